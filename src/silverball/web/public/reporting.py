"""What somebody with a printed code may do: say how a game ended, for one player or for one game."""

from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import urlencode

from starlette.responses import Response

from silverball.kit.errors import Conflict, Invalid, NotAllowed, NotFound, Refusal
from silverball.rules.commands import suggestions as suggestion_commands
from silverball.rules.model.tournament import Game, Suggestion
from silverball.service import access
from silverball.service.arenas import reads as arena_reads
from silverball.service.core import enact
from silverball.service.devices import reads as devices
from silverball.service.devices.reads import KnownDevice
from silverball.service.players import reads as player_reads
from silverball.web import site
from silverball.web.console import dispatch, form_bodies
from silverball.web.console.actions import REPORT_RESULT
from silverball.web.console.night import TournamentNight
from silverball.web.error_pages import needs_new_key, status_for
from silverball.web.forms import FormState
from silverball.web.page_request import GUEST, PageRequest

CODE = "code"
CODE_LETTERS_MAX = 100
CODE_WRONG = "This code belongs to somebody or something else, so it reports nothing here. Scan it once more."
CODE_REPLACED = "This code was replaced by a new one, or taken back. Ask the organizer for the new list."
TOURNAMENT_OVER = (
    "The tournament is completed: its results are final. Tell the organizer if one of them is wrong."
)
FORM_NOT_SENT = "This has not been sent yet: the page was open for too long. Look at it and send it again."
REPORTS_OFF = "This tournament takes no results of players. Tell yours to a scorekeeper or to the organizer."


@dataclass(frozen=True, kw_only=True)
class ReportPage:
    """What the page of a player or of a game shows to who came with a code."""

    night: TournamentNight
    # None when nobody holds a code, or one that is not for this page.
    code_device: KnownDevice | None = None
    code: str = ""
    status: int = 200
    # Why nothing can be reported here; empty when it can, or when no code was shown.
    sentence: str = ""
    typed: FormState = field(default_factory=FormState)

    @property
    def is_open(self) -> bool:
        return self.code_device is not None and not self.sentence

    def can_report(self, game_id: int) -> bool:
        """Whether this game can be reported now."""
        game = self.find_game(game_id)
        if game is None or self.code_device is None or not self.is_open or game.status != "started":
            return False
        caller = access.device_caller(self.code_device.device)
        return len(game.player_ids) > 1 and access.may_report(caller, self.night.tournament, game)

    def find_game(self, game_id: int) -> Game | None:
        return next((one for one in self.night.tournament.games if one.game_id == game_id), None)

    def pending_suggestions(self, game_id: int) -> list[Suggestion]:
        """What was reported of a game, and waits for somebody to take it."""
        return [one for one in self.night.tournament.suggestions if one.game_id == game_id]

    @property
    def entered_names(self) -> list[str]:
        """Names in the order that was entered and is not done, best first."""
        try:
            order = form_bodies.finishing_order(self.typed.submitted)["resultPositions"]
        except Invalid:
            return []
        known = self.night.tournament.entrant_by_id
        return [self.night.player_name(one) for one in order if one in known]


def submitted_code(visit: PageRequest) -> str:
    """The code that the visitor came with; empty for everybody else."""
    return (visit.field(CODE) or visit.query.get(CODE, ""))[:CODE_LETTERS_MAX]


def load_report_page(
    visit: PageRequest, tournament_id: int, *, player_id: int | None = None, game_id: int | None = None
) -> ReportPage:
    """The night for who holds this code, and whether it reports here. Raises NotFound."""
    code = submitted_code(visit)
    with visit.site.store.read() as db:
        try:
            tournament = enact.load_tournament(db, tournament_id)
        except Conflict as unknown:
            # Of a format that is not played here there is nothing to report.
            raise NotFound("Tournament", tournament_id) from unknown
        night = TournamentNight(
            tournament=tournament,
            now=visit.site.now(),
            is_organizer=False,
            players={one.player_id: one.name for one in player_reads.entrants(db, tournament_id, None)},
            arenas={one.arena_id: one.name for one in arena_reads.lineup_arenas(db, tournament_id)},
        )
        if not code:
            return ReportPage(night=night)
        known = devices.find_code(db, tournament_id, code, player_id=player_id, game_id=game_id)
    status, sentence = _page_status(night, known)
    return ReportPage(night=night, code_device=known, code=code, status=status, sentence=sentence)


def _page_status(night: TournamentNight, known: KnownDevice | None) -> tuple[int, str]:
    """The status of the page, and why nothing can be reported; no sentence when it can."""
    if known is None:
        return 403, CODE_WRONG
    if known.is_revoked:
        return 410, CODE_REPLACED
    if known.is_over:
        # The page is what such a code is for: it says how it ended.
        return 200, TOURNAMENT_OVER
    way = getattr(night.tournament.settings, "suggestions", suggestion_commands.DISABLED)
    return 200, REPORTS_OFF if way == suggestion_commands.DISABLED else ""


def submit_report(visit: PageRequest, held: ReportPage) -> ReportPage | None:
    """Report what the form says. None when it is done; otherwise what the page is to show instead."""
    typed = FormState(visit.field("form"), visit.form)
    if held.code_device is None or not held.is_open:
        status = 410 if held.status == 200 else held.status
        return replace(held, status=status, sentence=held.sentence or CODE_WRONG, typed=typed)
    try:
        dispatch.run_action_for_path(replace(visit, device=held.code_device), REPORT_RESULT, held.night.id)
    except Refusal as refused:
        status = status_for(refused)
        is_new = needs_new_key(refused)
        fault = held.night.with_names(_refusal_text(refused))
        return replace(held, status=status, typed=replace(typed, fault=fault, needs_new_key=is_new))
    return None


def _refusal_text(refused: Refusal) -> str:
    if isinstance(refused, Invalid):
        return " ".join(sentence for listed in refused.errors.values() for sentence in listed)
    if isinstance(refused, NotAllowed):
        return "This code does not report the result of that game."
    return refused.message


def page_path(held: ReportPage | None, path: str) -> str:
    """The page again, with its code."""
    return f"{path}?{urlencode({CODE: held.code})}" if held and held.code else path


def render_report_page(
    visit: PageRequest, template: str, held: ReportPage | None, *, is_followed: bool = False, **context: Any
) -> Response:
    """The page; a form on it can be sent by who is not signed in. Nobody holds a code: None."""
    is_open = held is not None and held.is_open
    modules = ("console.js",) if is_open or is_followed else ()
    if held is not None:
        context = {"night": held.night, "typed": held.typed, **context}
    answer = visit.render(
        template,
        held.status if held else 200,
        modules=modules,
        held=held,
        is_followed=is_followed,
        key=site.feed_app_key(visit.site.settings),
        **context,
    )
    if modules:
        answer.headers["content-security-policy"] = site.feed_policy(visit.site.base_url)
    if is_open and visit.session is None:
        visit.set_cookie(answer, GUEST, visit.guest_secret, None)
    return answer


def with_unsent_form(visit: PageRequest, held: ReportPage) -> ReportPage:
    """The page with the form as it was sent, and nothing done."""
    return replace(held, status=419, typed=FormState(visit.field("form"), visit.form, FORM_NOT_SENT))
