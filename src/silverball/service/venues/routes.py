"""Arenas, banks and locations over HTTP."""

from typing import Annotated

from msgspec import Meta

from silverball.kit.http.body import Body
from silverball.kit.http.endpoints import Access, Call, delete, get, patch, post
from silverball.kit.http.query import Query
from silverball.service.core import access, calls
from silverball.service.core.calls import Write
from silverball.service.tournaments.reads import tournaments
from silverball.service.venues import reads, writes
from silverball.store.people import book
from silverball_wire.arenas import Arena, Bank, Location
from silverball_wire.base import Id
from silverball_wire.pages import Data, Page


class UnknownArenasQuery(Query, frozen=True, kw_only=True):
    """Parameters of both resolve-unknown for arenas. Source: interface 4.2 and 8."""

    arenas: Annotated[tuple[Id, ...], Meta(max_length=25)]
    """Ids of the arenas to answer; unknown ones are left out."""


@get("/api/arenas", query=reads.ArenaQuery, access=Access.OWN)
def list_arenas(call: Call[reads.ArenaQuery]) -> Page[Arena]:
    """The caller's arenas."""
    with call.read() as db:
        rows = reads.arenas_owned_by(db, call.user_id, call.query)
    return calls.full_page(call, rows, per_page=reads.PER_PAGE)


@get("/api/arenas/resolve-unknown", query=UnknownArenasQuery)
def resolve_arenas(call: Call[UnknownArenasQuery]) -> Data[tuple[Arena, ...]]:
    """Arenas by their ids."""
    with call.read() as db:
        return Data(data=reads.existing_arenas(db, call.query.arenas))


@get("/api/tournaments/{tournament_id}/arenas", access=Access.OPENABLE)
def list_lineup(call: Call[Query]) -> Data[tuple[Arena, ...]]:
    """All arenas of a tournament, as `includeArenas` embeds them."""
    tournament_id = call.ids["tournament_id"]
    with call.read() as db:
        tournaments.require_tournament(db, tournament_id)
        return Data(data=reads.lineup_arenas(db, tournament_id))


@get(
    "/api/tournaments/{tournament_id}/arenas/resolve-unknown",
    query=UnknownArenasQuery,
    access=Access.OPENABLE,
)
def resolve_arenas_of_tournament(call: Call[UnknownArenasQuery]) -> Data[tuple[Arena, ...]]:
    """Arenas of a tournament by their ids."""
    tournament_id = call.ids["tournament_id"]
    with call.read() as db:
        tournaments.require_tournament(db, tournament_id)
        return Data(data=reads.selected_lineup_arenas(db, tournament_id, call.query.arenas))


@post("/api/arenas", body=writes.NewArena, ability="manage", status=201)
def add_arena(call: Write[writes.NewArena]) -> Data[Arena]:
    """Add an arena to the caller's book."""
    return Data(data=reads.find_arena(call.db, writes.add_arena(call)))


@patch("/api/arenas/{arena_id}", body=writes.ChangedArena, ability="manage")
def change_arena(call: Write[writes.ChangedArena]) -> Data[Arena]:
    """Change an arena of the caller's book; its tournaments show the change."""
    return Data(data=reads.find_arena(call.db, writes.change_arena(call)))


@delete("/api/arenas/{arena_id}", ability="manage")
def delete_arena(call: Write[Body]) -> Data[Arena]:
    """Delete an unused arena from the book; answers its last state."""
    arena_id = writes.require_removable_arena(call)
    removed = reads.find_arena(call.db, arena_id)
    book.remove(call.db, book.ARENA, arena_id)
    return Data(data=removed)


@get("/api/banks", query=reads.BankQuery, access=Access.OWN)
def list_banks(call: Call[reads.BankQuery]) -> Page[Bank]:
    """The caller's banks."""
    with call.read() as db:
        rows = reads.banks_owned_by(db, call.user_id, call.query)
    return calls.full_page(call, rows, per_page=reads.PER_PAGE)


@post("/api/banks", body=writes.NewBank, ability="manage", status=201)
def add_bank(call: Write[writes.NewBank]) -> Data[Bank]:
    """Add a bank to the caller's book."""
    return Data(data=reads.find_bank(call.db, writes.add_bank(call)))


@patch("/api/banks/{bank_id}", body=writes.ChangedBank, ability="manage")
def change_bank(call: Write[writes.ChangedBank]) -> Data[Bank]:
    """Change a bank of the caller's book; its tournaments show the change."""
    return Data(data=reads.find_bank(call.db, writes.change_bank(call)))


@delete("/api/banks/{bank_id}", ability="manage")
def delete_bank(call: Write[Body]) -> Data[Bank]:
    """Delete an unused bank from the book; answers its last state."""
    bank_id = access.removable_id_in_path(call, book.BANK, "Set the bank inactive instead.")
    removed = reads.find_bank(call.db, bank_id)
    book.remove(call.db, book.BANK, bank_id)
    return Data(data=removed)


@get("/api/locations", query=reads.LocationQuery, access=Access.OWN)
def list_locations(call: Call[reads.LocationQuery]) -> Page[Location]:
    """The caller's locations."""
    with call.read() as db:
        page = reads.locations_owned_by(db, call.user_id, call.query)
    return calls.full_page(call, page, per_page=reads.LOCATIONS_PER_PAGE)


@post("/api/locations", body=writes.NewLocation, ability="manage", status=201)
def add_location(call: Write[writes.NewLocation]) -> Data[Location]:
    """Add a location to the caller's book."""
    return Data(data=reads.find_location(call.db, writes.add_location(call)))


@patch("/api/locations/{location_id}", body=writes.ChangedLocation, ability="manage")
def change_location(call: Write[writes.ChangedLocation]) -> Data[Location]:
    """Change a location of the caller's book, in all tournaments."""
    return Data(data=reads.find_location(call.db, writes.change_location(call)))


@delete("/api/locations/{location_id}", ability="manage")
def delete_location(call: Write[Body]) -> Data[Location]:
    """Delete a location that is not in use, and return it as it was."""
    location_id = writes.require_removable_location(call)
    removed = reads.find_location(call.db, location_id)
    book.remove(call.db, book.LOCATION, location_id)
    return Data(data=removed)
