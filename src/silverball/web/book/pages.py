"""Pages of the book: an organizer's tournaments, players, machines, locations and series."""

import re
from collections.abc import Callable, Iterable, Mapping
from random import SystemRandom
from typing import Any

import msgspec
from msgspec import Struct
from starlette.responses import Response

from silverball.kit.errors import NotAllowed, NotFound, Refusal
from silverball.kit.http.body import Body
from silverball.kit.http.router import parse_path_id
from silverball.kit.values import replace
from silverball.service.book import reads as book_reads
from silverball.service.book import writes as book_writes
from silverball.service.core.calls import Write
from silverball.service.core.person_numbers import NumberOfSomebodyElse
from silverball.service.finals.bodies import NewSeriesFinal
from silverball.service.machines import reads as machines
from silverball.service.players import reads as players_reads
from silverball.service.players import writes as players
from silverball.service.series import writes as series
from silverball.service.tournaments import writes as tournaments
from silverball.service.tournaments.reads import listing
from silverball.service.users import reads as users
from silverball.service.venues import reads as venues_reads
from silverball.service.venues import writes as venues_writes
from silverball.store.database.engine import Db
from silverball.store.people import book, merging
from silverball.store.people.book import OwnedKind
from silverball.store.people.likely_doubles import likely_doubles
from silverball.web import form_actions, forms, site
from silverball.web.book import sections, series_finals
from silverball.web.book.sections import SECTIONS, BookSection
from silverball.web.form_actions import FormAction
from silverball.web.forms import PAGE, FormState, StandingResult, format_title
from silverball.web.page_request import PageRequest, not_found_page, page, redirect
from silverball.web.site import needs_new_key, status_for

# Actions of the book's forms: the writes that the interface calls, too.


WriteFunction = Callable[[Write[Any]], int]


def _section_actions(
    section: BookSection,
    kind: OwnedKind,
    *,
    add: WriteFunction,
    change: WriteFunction,
    require_removable: WriteFunction,
    new: type[Body],
    changed: type[Body],
) -> dict[str, FormAction]:
    """The actions of one section: add, change, remove."""
    path = f"/home/{section.name}"

    def remove(call: Write[Any]) -> None:
        book.remove(call.db, kind, require_removable(call))

    return {
        f"{section.name}-new": FormAction(
            write=add,
            body=new,
            build_body=sections.body_builder(section, is_new=True),
            redirect_to=lambda item_id: f"{path}/{item_id}?said=added",
        ),
        f"{section.name}-change": FormAction(
            write=change,
            body=changed,
            build_body=sections.body_builder(section, is_new=False),
            id_fields=(section.id_field,),
            redirect_to=lambda item_id: f"{path}/{item_id}?said=saved",
        ),
        f"{section.name}-out": FormAction(
            write=remove,
            id_fields=(section.id_field,),
            redirect_to=lambda _value: f"{path}?said=gone",
        ),
    }


def _reject_claim(call: Write[Any]) -> int:
    return players.give_up_claim(call, call.body.user_id)


_CLAIM_ACTIONS = {
    "claim-approve": FormAction(
        write=players.approve_claim,
        body=players.ClaimApproval,
        build_body=forms.numbers("userId"),
        id_fields=("player_id",),
        redirect_to=lambda _value: "/home/players?said=approved",
    ),
    "claim-out": FormAction(
        write=_reject_claim,
        body=players.ClaimApproval,
        build_body=forms.numbers("userId"),
        id_fields=("player_id",),
        redirect_to=lambda _value: "/home/players?said=refused",
    ),
    "merge": FormAction(
        write=players.merge_players,
        body=players.MergeTarget,
        build_body=forms.numbers("playerId"),
        id_fields=("player_id",),
        redirect_to=lambda player_id: f"/home/players/{player_id}?said=merged",
    ),
}
_BOOK_ACTIONS = {
    "arena-merge": FormAction(
        write=book_writes.merge_arenas,
        body=book_writes.ArenaMergeTarget,
        build_body=forms.numbers("arenaId"),
        id_fields=("arena_id",),
        redirect_to=lambda arena_id: f"/home/arenas/{arena_id}?said=machines-merged",
    ),
    "book-undo": FormAction(
        write=book_writes.undo_book_action,
        id_fields=("book_action_id",),
        redirect_to=lambda action_id: f"/home/actions?said=undone#action-{action_id}",
    ),
}
# The forms of /home/do/{action}.
ACTIONS: Mapping[str, FormAction] = {
    **_section_actions(
        sections.PLAYERS,
        book.PLAYER,
        add=players.add_player,
        change=players.change_player,
        require_removable=players.require_removable,
        new=players.NewPlayer,
        changed=players.ChangedPlayer,
    ),
    **_section_actions(
        sections.ARENAS,
        book.ARENA,
        add=venues_writes.add_arena,
        change=venues_writes.change_arena,
        require_removable=venues_writes.require_removable_arena,
        new=venues_writes.NewArena,
        changed=venues_writes.ChangedArena,
    ),
    **_section_actions(
        sections.LOCATIONS,
        book.LOCATION,
        add=venues_writes.add_location,
        change=venues_writes.change_location,
        require_removable=venues_writes.require_removable_location,
        new=venues_writes.NewLocation,
        changed=venues_writes.ChangedLocation,
    ),
    **_section_actions(
        sections.SERIES,
        book.SERIES,
        add=series.add_series,
        change=series.change_series,
        require_removable=series.require_removable_series,
        new=series.NewSeries,
        changed=series.ChangedSeries,
    ),
    **_CLAIM_ACTIONS,
    **_BOOK_ACTIONS,
    "series-final": FormAction(
        write=lambda call: tournaments.create_series_final(call, SystemRandom()).tournament_id,
        body=NewSeriesFinal,
        build_body=series_finals.new_series_final,
        id_fields=("series_id",),
        redirect_to=lambda tournament_id: f"/t/{tournament_id}/run",
    ),
}


class DoubleRow(Struct, frozen=True):
    """Two entries that may be one, the older first."""

    ids: tuple[int, int]
    names: tuple[str, str]
    reason: str


LISTED_MAX = 20
DOUBLES_SHOWN_MAX = 20
ID_DIGITS_MAX = 19
SEARCH_LETTERS_MAX = 100
# The interface refuses pages past this row.
ROWS_DEEP_MAX = 10_000
# Notices that an address asks for with `?said=`; other words are ignored.
NOTICES = {
    "added": "Written into your book.",
    "saved": "Saved.",
    "gone": "It is out of your book.",
    "approved": "Approved: this player is that account now.",
    "refused": "Turned down.",
    "imported": "They are in your book. Its page has an undo.",
    "merged": "They are one now. All results are here.",
    "machines-merged": "They are one now. All games are here; your book has an undo.",
    "undone": "Undone.",
}
NOT_YOURS = "Only organizers keep a book. Ask whoever runs this site to make you one."


def render_home(request: PageRequest) -> Response:
    """The account's newest tournaments, and the size of each section."""
    query = listing.TournamentQuery(owner=request.account.user_id, limit=LISTED_MAX)
    with request.site.store.read() as db:
        own = listing.tournaments_page(db, query, request.caller)
        counts = {name: section.load_page(db, request.caller, 1).total for name, section in SECTIONS.items()}
        waiting = len(_pending_claims(db, request))
        has_actions = bool(book_reads.actions_of(db, request.caller))
    return request.render(
        "book/home.html",
        own=own.rows,
        total=own.total,
        sections=SECTIONS,
        counts=counts,
        waiting=waiting,
        has_actions=has_actions,
        may_manage=request.caller.may("manage"),
        not_yours=NOT_YOURS,
        format_title=format_title,
    )


def _pending_claims(db: Db, request: PageRequest) -> list[dict[str, Any]]:
    """Users who claim a player of the book, with both names."""
    organizer_id = request.account.user_id
    claims = players_reads.pending_claims(db, organizer_id)
    player_ids = [claim.player_id for claim in claims] or [0]
    user_ids = [claim.user_id for claim in claims] or [0]
    claimed = {
        player.player_id: player for player in players_reads.existing_players(db, player_ids, request.caller)
    }
    names = {user.user_id: user.name for user in users.existing_users(db, user_ids, request.caller)}
    return [
        {
            "player": claimed[claim.player_id],
            "user_id": claim.user_id,
            "name": names.get(claim.user_id, ""),
        }
        for claim in claims
        if claim.player_id in claimed and claimed[claim.player_id].organizer_id == organizer_id
    ]


def render_section(
    request: PageRequest, section: BookSection, status: int = 200, form: FormState | None = None
) -> Response:
    """One page of a section, or the items that a search finds."""
    words, machine_words = _search_words(request, "q"), _search_words(request, "machine")
    number = _page_number(request, section)
    is_machine_search = section is sections.ARENAS and bool(machine_words)
    with request.site.store.read() as db:
        items = section.load_page(db, request.caller, number)
        rows = section.search(db, request.caller, words) if words and section.search else items.rows
        claims = _pending_claims(db, request) if section is sections.PLAYERS else []
        doubles = _likely_doubles(db, request, section) if number == 1 and not words else []
        titles = machines.search_machines(db, machine_words) if is_machine_search else []
    return request.render(
        "book/list.html",
        status,
        section=section,
        rows=[(getattr(item, section.id_field), item) for item in rows],
        total=items.total,
        number=number,
        pages=max(1, -(-items.total // section.per_page)),
        words=words,
        machine_words=machine_words,
        titles=titles,
        claims=claims,
        doubles=doubles,
        notice=NOTICES.get(request.query.get("said", "")),
        form_state=form or FormState(),
        page_path=f"/home/{section.name}",
        may_manage=request.caller.may("manage"),
        not_yours=NOT_YOURS,
    )


def _likely_doubles(db: Db, request: PageRequest, section: BookSection) -> list[DoubleRow]:
    """Pairs of the section that may be one, the older entry first."""
    if section is sections.PLAYERS:
        people = likely_doubles(db, request.account.user_id, DOUBLES_SHOWN_MAX)
        reasons = {True: "one federation number", False: "near names"}
        return [DoubleRow(pair.player_ids, pair.names, reasons[pair.share_number]) for pair in people]
    if section is sections.ARENAS:
        machines_alike = book_reads.likely_doubles(db, request.account.user_id, DOUBLES_SHOWN_MAX)
        return [
            DoubleRow(
                (first.arena_id, second.arena_id),
                (first.name, second.name),
                "one OPDB id" if first.opdb_id else "one name",
            )
            for first, second in machines_alike
        ]
    return []


def _search_words(request: PageRequest, name: str) -> str:
    """The words to search for, without NUL, which a database refuses."""
    return request.query.get(name, "").replace("\x00", "").strip()[:SEARCH_LETTERS_MAX]


def _page_number(request: PageRequest, section: BookSection) -> int:
    """The page of the list that was asked for; 1 when there can be no such page."""
    number = request.page_number
    return number if number * section.per_page <= ROWS_DEEP_MAX else 1


def render_item(
    request: PageRequest,
    section: BookSection,
    item_id: int,
    status: int = 200,
    form: FormState | None = None,
) -> Response:
    """One item with the form that changes it. Raises NotFound."""
    words = _search_words(request, "q")
    with request.site.store.read() as db:
        item = section.load_item(db, item_id, request.caller)
        if item.organizer_id != request.account.user_id and not request.caller.is_admin:
            raise NotFound(section.singular, item_id)
        others: list[Any] = []
        finals: Mapping[str, Any] = {}
        if section is sections.SERIES:
            finals = series_finals.load_context(db, request, item_id, form or FormState())
        if section is sections.PLAYERS:
            others = _other_entries(db, request, item, words)
        nights = {
            player_id: merging.tournaments_with(db, player_id)
            for player_id in (item_id, *(player.player_id for player in others))
            if others
        }
        is_arena = section is sections.ARENAS
        alike = book_reads.uses_of_doubles(db, item.organizer_id, item_id) if is_arena else []
    fields = msgspec.to_builtins(item)
    return request.render(
        "book/item.html",
        status,
        section=section,
        item=item,
        item_id=item_id,
        values={book_field.name: sections.field_text(book_field, fields) for book_field in section.fields},
        words=words,
        others=others,
        nights=nights,
        alike=alike,
        notice=NOTICES.get(request.query.get("said", "")),
        form_state=form or FormState(),
        page_path=f"/home/{section.name}/{item_id}",
        **finals,
    )


def _other_entries(db: Db, request: PageRequest, item: Any, words: str) -> list[Any]:
    """The players of the book who may be this person: those that a search finds, or the one in `with`."""
    if words:
        found: Iterable[Any] = players_reads.search_players(db, item.organizer_id, words, request.caller)
    else:
        text = request.query.get("with", "")
        is_id = text.isascii() and text.isdigit() and len(text) < ID_DIGITS_MAX
        found = players_reads.existing_players(db, [int(text)], request.caller) if is_id else ()
    return [
        player
        for player in found
        if player.player_id != item.player_id and player.organizer_id == item.organizer_id
    ]


NUMBER_TAKEN = "Federation number {number} is that of {name} in your book. Check it, or tick that it is them."
GONE = "What this form was about is not there any more."
ACTIONS_PATH = "/home/actions"
# A page of the book that a form was on.
BOOK_PATH = re.compile(r"/home/([a-z]{1,12})(?:/([0-9]{1,19}))?", re.ASCII)


@page("GET", "/home")
def home(request: PageRequest) -> Response:
    return render_home(request)


# Before the pages of sections, one of which would be found at the address of a form.
def _rerender(request: PageRequest, sentence: str) -> Response:
    form = FormState(request.field("form"), request.form, sentence)
    return _render_form_page(request, form, 419)


@page("POST", "/home/do/{action}", rerender=_rerender, opens="/home")
def run_form(request: PageRequest) -> Response:
    action = ACTIONS.get(request.ids["action"])
    if action is None:
        return not_found_page()
    try:
        return redirect(form_actions.run_action(request, action, None).to)
    except Refusal as refusal:
        sentence = _refusal_text(request, refusal)
        standing = None
        if isinstance(refusal, NumberOfSomebodyElse) and "name" in refusal.facts:
            with request.site.store.read() as db:
                known = players_reads.find_player(db, refusal.facts["player"], request.caller)
            sentence = NUMBER_TAKEN.format(number=refusal.facts["number"], name=known.name)
            standing = StandingResult(known.name)
        form = FormState(request.field("form"), request.form, sentence, needs_new_key(refusal), standing)
        return _render_form_page(request, form, status_for(refusal))


@page("GET", "/home/actions")
def actions_page(request: PageRequest) -> Response:
    return _render_actions(request)


@page("GET", "/home/{section}")
def section_page(request: PageRequest) -> Response:
    section = SECTIONS.get(request.ids["section"])
    return not_found_page() if section is None else render_section(request, section)


@page("GET", "/home/{section}/{item_id}")
def item_page(request: PageRequest) -> Response:
    section = SECTIONS.get(request.ids["section"])
    if section is None:
        return not_found_page()
    return render_item(request, section, parse_path_id(section.id_field, request.ids["item_id"]))


def _render_form_page(request: PageRequest, form: FormState, status: int) -> Response:
    """The page that the form was on, with the form as it was sent."""
    if request.field(PAGE) == ACTIONS_PATH:
        return _render_actions(replace(request, query={}), status, form)
    match = BOOK_PATH.fullmatch(request.field(PAGE))
    section = SECTIONS.get(match[1]) if match else None
    if match is None or section is None:
        return redirect("/home")
    request = replace(request, query={})
    if match[2]:
        try:
            item_id = parse_path_id(section.id_field, match[2])
            return render_item(request, section, item_id, status, form)
        except NotFound:
            form = replace(form, fault=GONE)
    return render_section(request, section, status, form)


def _render_actions(request: PageRequest, status: int = 200, form: FormState | None = None) -> Response:
    """The actions of the book as a whole, each with its undo."""
    with request.site.store.read() as db:
        actions = book_reads.actions_of(db, request.caller)
        arena_ids = {arena_id for action in actions for arena_id in action.arena_ids}
        arenas = venues_reads.existing_arenas(db, sorted(arena_ids))
        kept_ids = {kept.player_id for action in actions for kept in action.kept if kept.player_id}
        people = players_reads.existing_players(db, sorted(kept_ids), request.caller)
    return request.render(
        "book/actions.html",
        status,
        actions=actions,
        player_names={player.player_id: player.name for player in people},
        arena_names={arena.arena_id: arena.name for arena in arenas},
        notice=NOTICES.get(request.query.get("said", "")),
        form_state=form or FormState(),
        page_path=ACTIONS_PATH,
        may_manage=request.caller.may("manage"),
    )


def _refusal_text(request: PageRequest, refusal: Refusal) -> str:
    if isinstance(refusal, NotFound):
        return GONE
    if isinstance(refusal, NotAllowed) and not request.caller.may("manage"):
        return NOT_YOURS
    return site.refusal_text(refusal)
