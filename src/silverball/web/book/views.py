"""Views of the book: its start page, a section, and one item."""

from typing import Any

import msgspec
from starlette.responses import Response

from silverball.kit.errors import NotFound
from silverball.service.machines import reads as machines
from silverball.service.players import reads as players
from silverball.service.tournaments.reads import listing
from silverball.service.users import reads as users
from silverball.store.engine import Db
from silverball.web.book import sections
from silverball.web.book.sections import SECTIONS, BookSection
from silverball.web.format_titles import format_title
from silverball.web.forms import FormState
from silverball.web.page_request import PageRequest

LISTED_MAX = 20
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
    "merged": "They are one now. All results are here.",
}
NOT_YOURS = "Only organizers keep a book. Ask whoever runs this site to make you one."


def render_home(request: PageRequest) -> Response:
    """The account's newest tournaments, and the size of each section."""
    query = listing.TournamentQuery(owner=request.account.user_id, limit=LISTED_MAX)
    with request.site.store.read() as db:
        own = listing.tournaments_page(db, query, request.caller)
        counts = {name: section.load_page(db, request.caller, 1).total for name, section in SECTIONS.items()}
        waiting = len(_pending_claims(db, request))
    return request.render(
        "book/home.html",
        own=own.rows,
        total=own.total,
        sections=SECTIONS,
        counts=counts,
        waiting=waiting,
        may_manage=request.caller.may("manage"),
        not_yours=NOT_YOURS,
        format_title=format_title,
    )


def _pending_claims(db: Db, request: PageRequest) -> list[dict[str, Any]]:
    """Users who claim a player of the book, with both names."""
    organizer_id = request.account.user_id
    claims = players.pending_claims(db, organizer_id)
    player_ids = [claim.player_id for claim in claims] or [0]
    user_ids = [claim.user_id for claim in claims] or [0]
    claimed = {
        player.player_id: player for player in players.existing_players(db, player_ids, request.caller)
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
        notice=NOTICES.get(request.query.get("said", "")),
        form_state=form or FormState(),
        page_path=f"/home/{section.name}",
        may_manage=request.caller.may("manage"),
        not_yours=NOT_YOURS,
    )


def _search_words(request: PageRequest, name: str) -> str:
    """The words to search for, without NUL, which a database refuses."""
    return request.query.get(name, "").replace("\x00", "").strip()[:SEARCH_LETTERS_MAX]


def _page_number(request: PageRequest, section: BookSection) -> int:
    """The page of the list that was asked for; 1 when there can be no such page."""
    text = request.query.get("page", "1")
    number = int(text) if text.isascii() and text.isdigit() and len(text) <= 3 else 1
    return number if number >= 1 and number * section.per_page <= ROWS_DEEP_MAX else 1


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
        if words and section is sections.PLAYERS:
            matches = players.search_players(db, item.organizer_id, words, request.caller)
            others = [player for player in matches if player.player_id != item_id]
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
        notice=NOTICES.get(request.query.get("said", "")),
        form_state=form or FormState(),
        page_path=f"/home/{section.name}/{item_id}",
    )
