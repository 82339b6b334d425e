"""The home of an organizer: tournaments, and the book with its players, machines, locations and series."""

import re
from dataclasses import replace
from typing import Any

import msgspec
from starlette.responses import Response

from silverball.kit.errors import Conflict, Invalid, NotAllowed, NotFound, Refusal
from silverball.kit.routing import path_id
from silverball.service.machines import reads as machines
from silverball.service.players import reads as players
from silverball.service.tournaments import reads as tournaments
from silverball.service.users import reads as users
from silverball.store.engine import Db
from silverball.web.book import kinds
from silverball.web.book.deeds import DEEDS
from silverball.web.book.kinds import KINDS, Kind
from silverball.web.console import doing, setup
from silverball.web.forms import PAGE, Typed
from silverball.web.refused import needs_new_key, status_of
from silverball.web.visit import Visit, nothing_here, page, see

LISTED_MAX = 20
WORDS_MAX = 100
# No list of the interface goes deeper.
DEEP_MAX = 10_000
SAID = {
    "added": "Written into your book.",
    "saved": "Saved.",
    "gone": "It is out of your book.",
    "approved": "Approved: this player is that account now.",
    "refused": "Turned down.",
    "merged": "They are one now. All results are here.",
}
GONE = "What this form was about is not there any more."
NOT_YOURS = "Only organizers keep a book. Ask whoever runs this site to make you one."
# Where a form of the book may have stood.
STOOD = re.compile(r"/home/([a-z]{1,12})(?:/([0-9]{1,19}))?", re.ASCII)


@page("GET", "/home")
def home(visit: Visit) -> Response:
    query = tournaments.TournamentQuery(owner=visit.who.user_id, limit=LISTED_MAX)
    with visit.site.store.read() as db:
        own = tournaments.page(db, query, visit.caller)
        counts = {name: kind.page(db, visit.caller, 1).total for name, kind in KINDS.items()}
        waiting = len(_claims(db, visit))
    return visit.shown(
        "book/home.html",
        own=own.rows,
        total=own.total,
        kinds=KINDS,
        counts=counts,
        waiting=waiting,
        may_manage=visit.caller.may("manage"),
        not_yours=NOT_YOURS,
        title_of=setup.title_of,
    )


def _claims(db: Db, visit: Visit) -> list[dict[str, Any]]:
    """Who says that he is a player of the book, with both names."""
    mine = visit.who.user_id
    waiting = players.claims(db, mine)
    known = {
        one.player_id: one
        for one in players.named(db, [one.player_id for one in waiting] or [0], visit.caller)
    }
    people = {
        one.user_id: one.name
        for one in users.named(db, [one.user_id for one in waiting] or [0], visit.caller)
    }
    return [
        {"player": known[one.player_id], "user_id": one.user_id, "name": people.get(one.user_id, "")}
        for one in waiting
        if one.player_id in known and known[one.player_id].organizer_id == mine
    ]


@page("GET", "/home/do/{deed}")
def deed_opened(_visit: Visit) -> Response:
    """Reloading or bookmarking what a form answered is not an error."""
    return see("/home")


@page("GET", "/home/{kind}")
def listed(visit: Visit) -> Response:
    kind = KINDS.get(visit.ids["kind"])
    return nothing_here() if kind is None else _list(visit, kind)


@page("GET", "/home/{kind}/{thing_id}")
def one_thing(visit: Visit) -> Response:
    kind = KINDS.get(visit.ids["kind"])
    return nothing_here() if kind is None else _one(visit, kind, path_id(kind.key, visit.ids["thing_id"]))


def _again(visit: Visit, sentence: str) -> Response:
    return _refused(visit, Conflict(sentence), 419)


@page("POST", "/home/do/{deed}", again=_again)
def do(visit: Visit) -> Response:
    deed = DEEDS.get(visit.ids["deed"])
    if deed is None:
        return nothing_here()
    try:
        return see(doing.done_once(visit, deed, None))
    except Refusal as refused:
        status = status_of(refused)
        return _refused(visit, refused, status)


def _refused(visit: Visit, refused: Refusal, status: int) -> Response:
    """The page that the form stood on, with the form as it was."""
    is_new = needs_new_key(refused)
    typed = Typed(visit.field("form"), visit.form, _sentence(visit, refused), is_new)
    stood = STOOD.fullmatch(visit.field(PAGE))
    kind = KINDS.get(stood[1]) if stood else None
    if stood is None or kind is None:
        return see("/home")
    then = replace(visit, query={})
    if stood[2]:
        try:
            return _one(then, kind, path_id(kind.key, stood[2]), status, typed)
        except NotFound:
            typed = replace(typed, fault=GONE)
    return _list(then, kind, status, typed)


def _sentence(visit: Visit, refused: Refusal) -> str:
    if isinstance(refused, NotFound):
        return GONE
    if isinstance(refused, NotAllowed) and not visit.caller.may("manage"):
        return NOT_YOURS
    if isinstance(refused, Invalid):
        return " ".join(sentence for listed in refused.errors.values() for sentence in listed)
    return refused.message


def _list(visit: Visit, kind: Kind, status: int = 200, typed: Typed | None = None) -> Response:
    words, machine_words = _words(visit, "q"), _words(visit, "machine")
    number = _page_of(visit, kind)
    with visit.site.store.read() as db:
        found = kind.page(db, visit.caller, number)
        rows = kind.found(db, visit.caller, words) if words and kind.found else found.rows
        claims = _claims(db, visit) if kind is kinds.PLAYERS else []
        titles = machines.search(db, machine_words) if kind is kinds.ARENAS and machine_words else []
    return visit.shown(
        "book/list.html",
        status,
        kind=kind,
        rows=[(getattr(one, kind.key), one) for one in rows],
        total=found.total,
        number=number,
        pages=max(1, -(-found.total // kind.per_page)),
        words=words,
        machine_words=machine_words,
        titles=titles,
        claims=claims,
        said=SAID.get(visit.query.get("said", "")),
        typed=typed or Typed(),
        stood=f"/home/{kind.name}",
        may_manage=visit.caller.may("manage"),
        not_yours=NOT_YOURS,
    )


def _words(visit: Visit, name: str) -> str:
    """What is searched for; a database cannot be asked for what no text holds."""
    return visit.query.get(name, "").replace("\x00", "").strip()[:WORDS_MAX]


def _page_of(visit: Visit, kind: Kind) -> int:
    """A page that the list can have; anything else is the first."""
    text = visit.query.get("page", "1")
    number = int(text) if text.isascii() and text.isdigit() and len(text) <= 3 else 1
    return number if number >= 1 and number * kind.per_page <= DEEP_MAX else 1


def _one(visit: Visit, kind: Kind, thing_id: int, status: int = 200, typed: Typed | None = None) -> Response:
    words = _words(visit, "q")
    with visit.site.store.read() as db:
        thing = kind.read(db, thing_id, visit.caller)
        if thing.organizer_id != visit.who.user_id and not visit.caller.is_admin:
            raise NotFound(kind.one, thing_id)
        others: list[Any] = []
        if words and kind is kinds.PLAYERS:
            found = players.found(db, thing.organizer_id, words, visit.caller)
            others = [one for one in found if one.player_id != thing_id]
    shown = msgspec.to_builtins(thing)
    return visit.shown(
        "book/one.html",
        status,
        kind=kind,
        thing=thing,
        thing_id=thing_id,
        values={one.name: kinds.stands(one, shown) for one in kind.fields},
        words=words,
        others=others,
        said=SAID.get(visit.query.get("said", "")),
        typed=typed or Typed(),
        stood=f"/home/{kind.name}/{thing_id}",
    )
