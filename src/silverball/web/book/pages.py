"""The home of an organizer: tournaments, and the book with its players, machines, locations and series."""

import re
from dataclasses import replace
from typing import Any

import msgspec
from starlette.responses import Response

from silverball.kit.errors import Conflict, Invalid, NotAllowed, NotFound, Refusal
from silverball.kit.http.router import parse_path_id
from silverball.service.machines import reads as machines
from silverball.service.players import reads as players
from silverball.service.tournaments.reads import tournaments
from silverball.service.users import reads as users
from silverball.store.engine import Db
from silverball.web.book import kinds
from silverball.web.book.actions import ACTIONS
from silverball.web.book.kinds import SECTIONS, BookSection
from silverball.web.console import dispatch, settings_form
from silverball.web.error_pages import needs_new_key, status_for
from silverball.web.forms import PAGE, FormState
from silverball.web.page_request import PageRequest, not_found_page, page, redirect

LISTED_MAX = 20
WORDS_MAX = 100
# No list of the interface goes deeper.
ROWS_DEEP_MAX = 10_000
NOTICES = {
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
BOOK_PATH = re.compile(r"/home/([a-z]{1,12})(?:/([0-9]{1,19}))?", re.ASCII)


@page("GET", "/home")
def home(visit: PageRequest) -> Response:
    query = tournaments.TournamentQuery(owner=visit.account.user_id, limit=LISTED_MAX)
    with visit.site.store.read() as db:
        own = tournaments.tournaments_page(db, query, visit.caller)
        counts = {name: kind.load_page(db, visit.caller, 1).total for name, kind in SECTIONS.items()}
        waiting = len(_open_claims(db, visit))
    return visit.render(
        "book/home.html",
        own=own.rows,
        total=own.total,
        kinds=SECTIONS,
        counts=counts,
        waiting=waiting,
        may_manage=visit.caller.may("manage"),
        not_yours=NOT_YOURS,
        title_of=settings_form.format_title,
    )


def _open_claims(db: Db, visit: PageRequest) -> list[dict[str, Any]]:
    """Who says that he is a player of the book, with both names."""
    mine = visit.account.user_id
    waiting = players.pending_claims(db, mine)
    known = {
        one.player_id: one
        for one in players.existing_players(db, [one.player_id for one in waiting] or [0], visit.caller)
    }
    people = {
        one.user_id: one.name
        for one in users.existing_users(db, [one.user_id for one in waiting] or [0], visit.caller)
    }
    return [
        {"player": known[one.player_id], "user_id": one.user_id, "name": people.get(one.user_id, "")}
        for one in waiting
        if one.player_id in known and known[one.player_id].organizer_id == mine
    ]


@page("GET", "/home/do/{deed}")
def action_opened(_visit: PageRequest) -> Response:
    """Reloading or bookmarking what a form answered is not an error."""
    return redirect("/home")


@page("GET", "/home/{kind}")
def section_page(visit: PageRequest) -> Response:
    kind = SECTIONS.get(visit.ids["kind"])
    return not_found_page() if kind is None else _render_section(visit, kind)


@page("GET", "/home/{kind}/{thing_id}")
def item_page(visit: PageRequest) -> Response:
    kind = SECTIONS.get(visit.ids["kind"])
    return (
        not_found_page()
        if kind is None
        else _render_item(visit, kind, parse_path_id(kind.id_field, visit.ids["thing_id"]))
    )


def _rerender(visit: PageRequest, sentence: str) -> Response:
    return _render_refusal(visit, Conflict(sentence), 419)


@page("POST", "/home/do/{deed}", rerender=_rerender)
def run_form(visit: PageRequest) -> Response:
    deed = ACTIONS.get(visit.ids["deed"])
    if deed is None:
        return not_found_page()
    try:
        return redirect(dispatch.run_action_for_path(visit, deed, None))
    except Refusal as refused:
        status = status_for(refused)
        return _render_refusal(visit, refused, status)


def _render_refusal(visit: PageRequest, refused: Refusal, status: int) -> Response:
    """The page that the form stood on, with the form as it was."""
    is_new = needs_new_key(refused)
    typed = FormState(visit.field("form"), visit.form, _refusal_text(visit, refused), is_new)
    stood = BOOK_PATH.fullmatch(visit.field(PAGE))
    kind = SECTIONS.get(stood[1]) if stood else None
    if stood is None or kind is None:
        return redirect("/home")
    then = replace(visit, query={})
    if stood[2]:
        try:
            return _render_item(then, kind, parse_path_id(kind.id_field, stood[2]), status, typed)
        except NotFound:
            typed = replace(typed, fault=GONE)
    return _render_section(then, kind, status, typed)


def _refusal_text(visit: PageRequest, refused: Refusal) -> str:
    if isinstance(refused, NotFound):
        return GONE
    if isinstance(refused, NotAllowed) and not visit.caller.may("manage"):
        return NOT_YOURS
    if isinstance(refused, Invalid):
        return " ".join(sentence for listed in refused.errors.values() for sentence in listed)
    return refused.message


def _render_section(
    visit: PageRequest, kind: BookSection, status: int = 200, typed: FormState | None = None
) -> Response:
    words, machine_words = _search_words(visit, "q"), _search_words(visit, "machine")
    number = _page_number(visit, kind)
    with visit.site.store.read() as db:
        found = kind.load_page(db, visit.caller, number)
        rows = kind.search(db, visit.caller, words) if words and kind.search else found.rows
        claims = _open_claims(db, visit) if kind is kinds.PLAYERS else []
        titles = machines.search_machines(db, machine_words) if kind is kinds.ARENAS and machine_words else []
    return visit.render(
        "book/list.html",
        status,
        kind=kind,
        rows=[(getattr(one, kind.id_field), one) for one in rows],
        total=found.total,
        number=number,
        pages=max(1, -(-found.total // kind.per_page)),
        words=words,
        machine_words=machine_words,
        titles=titles,
        claims=claims,
        said=NOTICES.get(visit.query.get("said", "")),
        typed=typed or FormState(),
        stood=f"/home/{kind.name}",
        may_manage=visit.caller.may("manage"),
        not_yours=NOT_YOURS,
    )


def _search_words(visit: PageRequest, name: str) -> str:
    """What is searched for; a database cannot be asked for what no text holds."""
    return visit.query.get(name, "").replace("\x00", "").strip()[:WORDS_MAX]


def _page_number(visit: PageRequest, kind: BookSection) -> int:
    """A page that the list can have; anything else is the first."""
    text = visit.query.get("page", "1")
    number = int(text) if text.isascii() and text.isdigit() and len(text) <= 3 else 1
    return number if number >= 1 and number * kind.per_page <= ROWS_DEEP_MAX else 1


def _render_item(
    visit: PageRequest, kind: BookSection, thing_id: int, status: int = 200, typed: FormState | None = None
) -> Response:
    words = _search_words(visit, "q")
    with visit.site.store.read() as db:
        thing = kind.load_item(db, thing_id, visit.caller)
        if thing.organizer_id != visit.account.user_id and not visit.caller.is_admin:
            raise NotFound(kind.singular, thing_id)
        others: list[Any] = []
        if words and kind is kinds.PLAYERS:
            found = players.search_players(db, thing.organizer_id, words, visit.caller)
            others = [one for one in found if one.player_id != thing_id]
    shown = msgspec.to_builtins(thing)
    return visit.render(
        "book/one.html",
        status,
        kind=kind,
        thing=thing,
        thing_id=thing_id,
        values={one.name: kinds.field_text(one, shown) for one in kind.fields},
        words=words,
        others=others,
        said=NOTICES.get(visit.query.get("said", "")),
        typed=typed or FormState(),
        stood=f"/home/{kind.name}/{thing_id}",
    )
