"""The page of a player or a game for readers of a printed code, who may report results there."""

from typing import Any
from urllib.parse import urlencode

from msgspec import Struct, field
from starlette.responses import Response

from silverball.kit.errors import Conflict, Invalid, NotFound
from silverball.kit.values import replace
from silverball.rules.commands import games
from silverball.rules.model import settings_protocols
from silverball.rules.model.tournament import Game, Suggestion
from silverball.service.core import access, loaded
from silverball.service.users import reads as users_reads
from silverball.service.users.reads import KnownDevice
from silverball.web import forms, site, tournament_night
from silverball.web.forms import FormState
from silverball.web.page_request import GUEST, PageRequest
from silverball.web.tournament_night import TournamentNight
from silverball.web.visitors import CODE, SECRET_LETTERS_MAX

CODE_WRONG = "This code belongs to somebody or something else, so it reports nothing here. Scan it once more."
CODE_REPLACED = "This code was replaced by a new one, or taken back. Ask the organizer for the new list."
TOURNAMENT_OVER = (
    "The tournament is completed: its results are final. Tell the organizer if one of them is wrong."
)
FORM_NOT_SENT = "This has not been sent yet: the page was open for too long. Look at it and send it again."
REPORTS_OFF = "This tournament takes no results of players. Tell yours to a scorekeeper or to the organizer."


class ReportPage(Struct, frozen=True, kw_only=True):
    """A tournament for the holder of a code, and whether the code may report here."""

    night: TournamentNight
    # None without a code, or with a code for another page.
    code_device: KnownDevice | None = None
    code: str = ""
    status: int = 200
    # The reason why nothing can be reported; empty when it can, or without a code.
    sentence: str = ""
    form_state: FormState = field(default_factory=FormState)

    @property
    def is_open(self) -> bool:
        return self.code_device is not None and not self.sentence

    def can_report(self, game_id: int) -> bool:
        """Whether the code may report this game now."""
        game = self.find_game(game_id)
        if game is None or self.code_device is None or not self.is_open or game.status != "started":
            return False
        caller = access.device_caller(self.code_device.device)
        return len(game.player_ids) > 1 and access.may_report(caller, self.night.tournament, game)

    def find_game(self, game_id: int) -> Game | None:
        return next((game for game in self.night.tournament.games if game.game_id == game_id), None)

    def pending_suggestions(self, game_id: int) -> list[Suggestion]:
        """The reports of a game that nobody has decided on yet."""
        suggestions = self.night.tournament.suggestions
        return [suggestion for suggestion in suggestions if suggestion.game_id == game_id]

    @property
    def entered_names(self) -> list[str]:
        """The names in the entered order, best first."""
        try:
            player_ids = forms.ordered_player_ids(self.form_state.submitted)
        except Invalid:
            return []
        entrants = self.night.tournament.entrant_by_id
        return [
            self.night.player_name(player_id)
            for player_id in player_ids
            if isinstance(player_id, int) and player_id in entrants
        ]


def submitted_code(request: PageRequest) -> str:
    """The code in the form or the address; empty without one."""
    return (request.field(CODE) or request.query.get(CODE, ""))[:SECRET_LETTERS_MAX]


def load_report_page(
    request: PageRequest, tournament_id: int, *, player_id: int | None = None, game_id: int | None = None
) -> ReportPage:
    """The tournament for the holder of the submitted code. Raises NotFound."""
    code = submitted_code(request)
    with request.site.store.read() as db:
        try:
            tournament = loaded.load_tournament(db, tournament_id)
        except Conflict as unknown_format:
            # A tournament of an unknown format cannot be played here, so there is nothing to report.
            raise NotFound("Tournament", tournament_id) from unknown_format
        night = tournament_night.public_night(db, tournament, request.site.now())
        if not code:
            return ReportPage(night=night)
        known = users_reads.find_code(db, tournament_id, code, player_id=player_id, game_id=game_id)
    status, sentence = _page_status(night, known)
    return ReportPage(night=night, code_device=known, code=code, status=status, sentence=sentence)


def _page_status(night: TournamentNight, known: KnownDevice | None) -> tuple[int, str]:
    """The page's status, and the reason why nothing can be reported."""
    if known is None:
        return 403, CODE_WRONG
    if known.is_revoked:
        return 410, CODE_REPLACED
    if known.is_over:
        # The page still shows how the games ended.
        return 200, TOURNAMENT_OVER
    mode = settings_protocols.suggestion_mode(night.tournament.settings)
    return 200, REPORTS_OFF if mode == games.DISABLED else ""


def page_path(report: ReportPage | None, path: str) -> str:
    """The path with the code of the page."""
    return f"{path}?{urlencode({CODE: report.code})}" if report and report.code else path


def render_report_page(
    request: PageRequest,
    template: str,
    report: ReportPage | None,
    *,
    is_followed: bool = False,
    **context: Any,
) -> Response:
    """The page; its form can be sent without signing in. Without a code there is no report."""
    is_open = report is not None and report.is_open
    modules: tuple[str, ...] = ("console.js",) if is_open or is_followed else ()
    if is_followed:
        modules += ("called.js",)
    if report is not None:
        context = {"night": report.night, "form_state": report.form_state, **context}
    response = request.render(
        template,
        report.status if report else 200,
        modules=modules,
        report=report,
        is_followed=is_followed,
        feed_key=site.feed_app_key(request.site.settings),
        **context,
    )
    if modules:
        response.headers["content-security-policy"] = site.feed_policy(request.base_url)
    if is_open and request.session is None:
        request.set_cookie(response, GUEST, request.guest_secret, None)
    return response


def with_unsent_form(request: PageRequest, report: ReportPage) -> ReportPage:
    """The page with the form as it was sent, without any effect."""
    form = FormState(request.field("form"), request.form, FORM_NOT_SENT)
    return replace(report, status=419, form_state=form)
