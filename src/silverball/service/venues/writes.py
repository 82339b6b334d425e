"""Arenas, banks and locations of an organizer's book, added and changed."""

from collections.abc import Sequence
from typing import Annotated, Any

from msgspec import UNSET, Meta, UnsetType
from sqlalchemy import delete, insert, select

from silverball.kit.errors import Conflict, Invalid, Sentence
from silverball.kit.http.body import Body
from silverball.kit.http.fields import Color, Id, Labels, Line, Name
from silverball.service.core import access, feed_events
from silverball.service.core.calls import Write
from silverball.service.machines import reads as machines
from silverball.store.people import book
from silverball.store.tables import bank_arena, lineup_bank, location, occasion, tournament
from silverball_wire.values import Status

OpdbId = Annotated[str, Meta(max_length=40)]


class NewArena(Body, frozen=True, kw_only=True):
    """An arena for the caller's book."""

    name: Name
    status: Status = "active"
    opdb_id: OpdbId | None = None
    category_id: Id | None = None
    labels: Labels = ()
    label_color: Color | None = None


class ChangedArena(Body, frozen=True, kw_only=True):
    """Changes to an arena."""

    name: Name | UnsetType = UNSET
    status: Status | UnsetType = UNSET
    opdb_id: OpdbId | UnsetType | None = UNSET
    category_id: Id | UnsetType | None = UNSET
    labels: Labels | UnsetType = UNSET
    label_color: Color | UnsetType | None = UNSET


class ArenaInBank(Conflict):
    sentence = "{arena} is in bank {bank}. Remove it there first."


def add_arena(call: Write[NewArena]) -> int:
    """Add an arena of the caller; returns its id. Raises Invalid for a machine id that cannot be one."""
    _require_machine(call)
    return book.add(call.db, book.ARENA, call.user_id, access.sent_values(call.body))


def change_arena(call: Write[ChangedArena]) -> int:
    """Change the arena in the path; returns its id. Raises Invalid as `add_arena` does."""
    arena_id = access.owned_id_in_path(call, book.ARENA)
    _require_machine(call)
    book.change(call.db, book.ARENA, arena_id, access.sent_values(call.body))
    feed_events.announce_arenas(call.transaction, [arena_id])
    return arena_id


def _require_machine(call: Write[NewArena] | Write[ChangedArena]) -> None:
    if isinstance(call.body.opdb_id, str):
        machines.require_known_id(call.db, "opdbId", call.body.opdb_id)


def require_removable_arena(call: Write[Body]) -> int:
    """The id of the arena in the path. Raises Conflict when a tournament or a bank uses it."""
    arena_id = access.removable_id_in_path(call, book.ARENA, "Set the arena inactive instead.")
    rows = (
        select(bank_arena.c.bank_id).where(bank_arena.c.arena_id == arena_id).order_by(bank_arena.c.bank_id)
    )
    bank_id = call.db.execute(rows.limit(1)).scalar_one_or_none()
    if bank_id is not None:
        raise ArenaInBank(arena=arena_id, bank=bank_id)
    return arena_id


ArenaIds = Annotated[tuple[Id, ...], Meta(max_length=100)]


class NewBank(Body, frozen=True, kw_only=True):
    """A bank for the caller's book; its arenas are played in this order."""

    name: Name
    status: Status = "active"
    arena_ids: ArenaIds = ()


class ChangedBank(Body, frozen=True, kw_only=True):
    """Changes to a bank."""

    name: Name | UnsetType = UNSET
    status: Status | UnsetType = UNSET
    arena_ids: ArenaIds | UnsetType = UNSET


class BankInUse(Conflict):
    sentence = (
        "Tournament {tournament} is being played with bank {bank}. Remove the bank there first, "
        "or set an arena inactive in the tournament."
    )


def add_bank(call: Write[NewBank]) -> int:
    """Add a bank of the caller; returns its id."""
    _refuse_faulty_arenas(call, call.body.arena_ids, call.user_id)
    bank_id = book.add(call.db, book.BANK, call.user_id, access.sent_values(call.body, "arena_ids"))
    _insert_arenas(call, bank_id, call.body.arena_ids)
    return bank_id


def change_bank(call: Write[ChangedBank]) -> int:
    """Change the bank in the path; returns its id. Raises Conflict for other arenas during play."""
    bank_id = access.owned_id_in_path(call, book.BANK)
    arena_ids = call.body.arena_ids
    if arena_ids is not UNSET:
        _refuse_faulty_arenas(call, arena_ids, book.lock_owner(call.db, book.BANK, bank_id))
        _refuse_if_played(call, bank_id)
        call.db.execute(delete(bank_arena).where(bank_arena.c.bank_id == bank_id))
        _insert_arenas(call, bank_id, arena_ids)
    book.change(call.db, book.BANK, bank_id, access.sent_values(call.body, "arena_ids"))
    feed_events.announce_banks(call.transaction, [bank_id])
    return bank_id


def _insert_arenas(call: Write[Any], bank_id: int, arena_ids: Sequence[int]) -> None:
    rows = [
        {"bank_id": bank_id, "place": place, "arena_id": arena_id} for place, arena_id in enumerate(arena_ids)
    ]
    if rows:
        call.db.execute(insert(bank_arena), rows)


def _refuse_faulty_arenas(call: Write[Any], arena_ids: Sequence[int], owner_id: int) -> None:
    twice = [arena_id for arena_id in arena_ids if arena_ids.count(arena_id) > 1]
    if twice:
        raise Invalid({"arenaIds": [Sentence("{arena} is named twice.", arena=twice[0])]})
    access.require_owned_ids(call, book.ARENA, "arenaIds", arena_ids, owner_id)


def _refuse_if_played(call: Write[Any], bank_id: int) -> None:
    """Raise Conflict while a running tournament draws the bank's arenas, which its journal refers to."""
    rows = (
        select(lineup_bank.c.tournament_id)
        .join(tournament, tournament.c.tournament_id == lineup_bank.c.tournament_id)
        .where(lineup_bank.c.bank_id == bank_id, tournament.c.status == "started")
    )
    tournament_id = call.db.execute(rows.order_by(lineup_bank.c.tournament_id).limit(1)).scalar_one_or_none()
    if tournament_id is not None:
        raise BankInUse(tournament=tournament_id, bank=bank_id)


Latitude = Annotated[float, Meta(ge=-90, le=90)]
Longitude = Annotated[float, Meta(ge=-180, le=180)]


class LocationHasEvent(Conflict):
    sentence = "Event {event_id} takes place at location {location_id}. Change the event first."


class NewLocation(Body, frozen=True, kw_only=True):
    """A new location of the caller's book."""

    name: Name
    address: Line | None = None
    lat: Latitude | None = None
    lng: Longitude | None = None
    status: Status = "active"
    pinballmap_id: Id | None = None


class ChangedLocation(Body, frozen=True, kw_only=True):
    """The changed fields of a location."""

    name: Name | UnsetType = UNSET
    address: Line | UnsetType | None = UNSET
    lat: Latitude | UnsetType | None = UNSET
    lng: Longitude | UnsetType | None = UNSET
    status: Status | UnsetType = UNSET
    pinballmap_id: Id | UnsetType | None = UNSET


def add_location(call: Write[NewLocation]) -> int:
    """Add a location to the caller's book, and return its id."""
    values = access.sent_values(call.body)
    _require_both_coordinates(values)
    return book.add(call.db, book.LOCATION, call.user_id, values)


def change_location(call: Write[ChangedLocation]) -> int:
    """Change the location in the path, and return its id."""
    location_id = access.owned_id_in_path(call, book.LOCATION)
    values = access.sent_values(call.body)
    stored = select(location.c.lat, location.c.lng).where(location.c.location_id == location_id)
    _require_both_coordinates({**call.db.execute(stored).mappings().one(), **values})
    book.change(call.db, book.LOCATION, location_id, values)
    feed_events.announce_locations(call.transaction, [location_id])
    return location_id


def require_removable_location(call: Write[Body]) -> int:
    """The id in the path. Raises Conflict when a tournament or an event takes place at the location."""
    location_id = access.removable_id_in_path(call, book.LOCATION, "Set the location inactive instead.")
    rows = select(occasion.c.occasion_id).where(occasion.c.location_id == location_id)
    event_id = call.db.execute(rows.order_by(occasion.c.occasion_id).limit(1)).scalar_one_or_none()
    if event_id is not None:
        raise LocationHasEvent(event_id=event_id, location_id=location_id)
    return location_id


def _require_both_coordinates(values: dict[str, Any]) -> None:
    missing = [name for name in ("lat", "lng") if values.get(name) is None]
    if len(missing) == 1:
        raise Invalid({missing[0]: ["Give both lat and lng, or neither."]})
