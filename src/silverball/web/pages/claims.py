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
from silverball.web.console import doing
from silverball.web.console.deeds import Deed
from silverball.web.forms import Typed
from silverball.web.refused import needs_new_key, status_of
from silverball.web.visit import Visit, nothing_here, page, see
from silverball.wire.players import Player

PATH = "/account/entries"
WORDS_MIN, WORDS_MAX = 3, 100
SAID = {
    "asked": "Asked. It counts when the organizer says that it is right.",
    "yours": "This player is you now.",
    "back": "Taken back.",
}
GONE = "This entry is not there any more."
DEEDS: Mapping[str, Deed] = {
    "claim": Deed(
        write=player_writes.stake_claim,
        ability="score",
        ids=("player_id",),
        to=lambda _made: f"{PATH}?said=asked",
    ),
    "claim-back": Deed(
        write=lambda call: player_writes.give_up_claim(call, None),
        ability="score",
        ids=("player_id",),
        to=lambda _made: f"{PATH}?said=back",
    ),
}


@dataclass(frozen=True)
class Entry:
    """A player of somebody's book, and what tells him from others of that name."""

    player: Player
    organizer: str
    # Id and name of the newest tournament; None where there is none.
    newest: tuple[int, str] | None


@page("GET", PATH)
def entries(visit: Visit) -> Response:
    return _shown(visit, Typed())


def _again(visit: Visit, sentence: str) -> Response:
    return _shown(visit, Typed(visit.field("form"), visit.form, sentence), 419)


@page("POST", "/account/entries/do/{deed}", again=_again)
def do(visit: Visit) -> Response:
    deed = DEEDS.get(visit.ids["deed"])
    if deed is None:
        return nothing_here()
    try:
        return see(doing.done_once(visit, deed, None))
    except Refusal as refused:
        status = status_of(refused)
        is_new = needs_new_key(refused)
        typed = Typed(visit.field("form"), visit.form, _sentence(refused), is_new)
        return _shown(visit, typed, status)


@page("GET", "/account/entries/do/{deed}")
def deed_opened(_visit: Visit) -> Response:
    """Reloading or bookmarking what a form answered is not an error."""
    return see(PATH)


def _sentence(refused: Refusal) -> str:
    if isinstance(refused, NotFound):
        return GONE
    if isinstance(refused, Invalid):
        return " ".join(sentence for listed in refused.errors.values() for sentence in listed)
    return refused.message


def _shown(visit: Visit, typed: Typed, status: int = 200) -> Response:
    # A form that comes back has the words in it that led to it.
    asked = visit.query.get("q", typed.sent.one("q") or visit.who.name)
    words = asked.replace("\x00", "").strip()[:WORDS_MAX]
    with visit.site.store.read() as db:
        mine = players.claimed_by(db, visit.who.user_id, visit.caller)
        own = [one for one in players.claims(db, visit.who.user_id) if one.user_id == visit.who.user_id]
        waiting = players.named(db, [one.player_id for one in own] or [0], visit.caller)
        asked_for = {one.player_id for one in waiting}
        found: Sequence[Player] = ()
        if len(words) >= WORDS_MIN:
            found = players.claimable(db, words, visit.caller)
        offered = [one for one in found if one.player_id not in asked_for]
        context: dict[str, Any] = {
            "mine": _entries(db, visit, mine),
            "waiting": _entries(db, visit, waiting),
            "offered": _entries(db, visit, offered),
        }
    return visit.shown(
        "account/entries.html",
        status,
        words=words,
        words_min=WORDS_MIN,
        found_max=players.FOUND_MAX,
        said=SAID.get(visit.query.get("said", "")),
        typed=typed,
        **context,
    )


def _entries(db: Db, visit: Visit, found: Sequence[Player]) -> list[Entry]:
    if not found:
        return []
    owners = sorted({one.organizer_id for one in found})
    names = {one.user_id: one.name for one in users.named(db, owners, visit.caller)}
    newest = players.newest_tournaments(db, [one.player_id for one in found])
    return [Entry(one, names.get(one.organizer_id, ""), newest.get(one.player_id)) for one in found]
