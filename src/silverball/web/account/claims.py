"""Who somebody with an account is in the books of others: entries of that name, asked for and given up."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from starlette.responses import Response

from silverball.kit.errors import Invalid, NotFound, Refusal
from silverball.service.players import reads as players
from silverball.service.players import writes as player_writes
from silverball.service.users import reads as users
from silverball.store.engine import Db
from silverball.web.console import dispatch
from silverball.web.console.actions import FormAction
from silverball.web.error_pages import needs_new_key, status_for
from silverball.web.forms import FormState
from silverball.web.page_request import PageRequest, not_found_page, page, redirect
from silverball.wire.players import Player

PATH = "/account/entries"
WORDS_MIN, WORDS_MAX = 3, 100
NOTICES = {
    "asked": "Asked. It counts when the organizer says that it is right.",
    "yours": "This player is you now.",
    "back": "Taken back.",
}
GONE = "This entry is not there any more."
ACTIONS: Mapping[str, FormAction] = {
    "claim": FormAction(
        write=player_writes.stake_claim,
        ability="score",
        id_fields=("player_id",),
        redirect_to=lambda _made: f"{PATH}?said=asked",
    ),
    "claim-back": FormAction(
        write=lambda call: player_writes.give_up_claim(call, None),
        ability="score",
        id_fields=("player_id",),
        redirect_to=lambda _made: f"{PATH}?said=back",
    ),
}


@dataclass(frozen=True)
class BookEntry:
    """A player of somebody's book, and what tells him from others of that name."""

    player: Player
    organizer: str
    # Id and name of the newest tournament; None where there is none.
    newest_tournament: tuple[int, str] | None


@page("GET", PATH)
def entries(visit: PageRequest) -> Response:
    return _render_entries(visit, FormState())


def _rerender(visit: PageRequest, sentence: str) -> Response:
    return _render_entries(visit, FormState(visit.field("form"), visit.form, sentence), 419)


@page("POST", "/account/entries/do/{deed}", rerender=_rerender)
def run_form(visit: PageRequest) -> Response:
    deed = ACTIONS.get(visit.ids["deed"])
    if deed is None:
        return not_found_page()
    try:
        return redirect(dispatch.run_action_for_path(visit, deed, None))
    except Refusal as refused:
        status = status_for(refused)
        is_new = needs_new_key(refused)
        typed = FormState(visit.field("form"), visit.form, _refusal_text(refused), is_new)
        return _render_entries(visit, typed, status)


@page("GET", "/account/entries/do/{deed}")
def action_opened(_visit: PageRequest) -> Response:
    """Reloading or bookmarking what a form answered is not an error."""
    return redirect(PATH)


def _refusal_text(refused: Refusal) -> str:
    if isinstance(refused, NotFound):
        return GONE
    if isinstance(refused, Invalid):
        return " ".join(sentence for listed in refused.errors.values() for sentence in listed)
    return refused.message


def _render_entries(visit: PageRequest, typed: FormState, status: int = 200) -> Response:
    # A form that comes back has the words in it that led to it.
    asked = visit.query.get("q", typed.submitted.value("q") or visit.account.name)
    words = asked.replace("\x00", "").strip()[:WORDS_MAX]
    with visit.site.store.read() as db:
        mine = players.players_of_user(db, visit.account.user_id, visit.caller)
        own = [
            one
            for one in players.pending_claims(db, visit.account.user_id)
            if one.user_id == visit.account.user_id
        ]
        waiting = players.existing_players(db, [one.player_id for one in own] or [0], visit.caller)
        asked_for = {one.player_id for one in waiting}
        found: Sequence[Player] = ()
        if len(words) >= WORDS_MIN:
            found = players.claimable_players(db, words, visit.caller)
        offered = [one for one in found if one.player_id not in asked_for]
        context: dict[str, Any] = {
            "mine": _book_entries(db, visit, mine),
            "waiting": _book_entries(db, visit, waiting),
            "offered": _book_entries(db, visit, offered),
        }
    return visit.render(
        "account/entries.html",
        status,
        words=words,
        words_min=WORDS_MIN,
        found_max=players.SEARCH_MAX,
        said=NOTICES.get(visit.query.get("said", "")),
        typed=typed,
        **context,
    )


def _book_entries(db: Db, visit: PageRequest, found: Sequence[Player]) -> list[BookEntry]:
    if not found:
        return []
    owners = sorted({one.organizer_id for one in found})
    names = {one.user_id: one.name for one in users.existing_users(db, owners, visit.caller)}
    newest = players.newest_tournaments(db, [one.player_id for one in found])
    return [BookEntry(one, names.get(one.organizer_id, ""), newest.get(one.player_id)) for one in found]
