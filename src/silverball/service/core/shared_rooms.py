"""The tournaments of an occasion that run at the same time, and so share their machines and people.

A tournament reads the others and never changes or locks them. On PostgreSQL writers of one occasion come
one after the other through a lock of its own, taken last and held until the commit, so that no two of them
call the same player: decision 0023.
"""

from collections.abc import Sequence

from msgspec import Struct
from sqlalchemy import Connection, bindparam, select, text

from silverball.rules.mechanics import shared_room
from silverball.rules.mechanics.shared_room import BusyElsewhere
from silverball.rules.model.tournament import Tournament
from silverball.rules.registry import FORMATS
from silverball.service.core import loaded
from silverball.store import snapshot, tables
from silverball.store.statements import Statement
from silverball.store.transaction import Transaction

# The first key of the lock; the second one is the occasion.
ROOM_LOCK = 1_879
LOCK_ROOM = text("SELECT pg_advisory_xact_lock(:kind, :occasion_id)")
_T, _ENTRY = tables.tournament.c, tables.occasion_tournament.c
_OTHERS = Statement(
    select(_T.tournament_id, _T.type)
    .join(tables.occasion_tournament, _ENTRY.tournament_id == _T.tournament_id)
    .where(
        _ENTRY.occasion_id == bindparam("own_occasion_id"),
        _T.tournament_id != bindparam("own_id"),
        _T.status == "started",
    )
    .order_by(_T.tournament_id)
)
_RUNNING = Statement(
    select(_ENTRY.occasion_id, _T.tournament_id, _T.revision)
    .join(tables.tournament, _T.tournament_id == _ENTRY.tournament_id)
    .where(_T.status == "started")
    .order_by(_ENTRY.occasion_id, _T.tournament_id)
)


class SharedRoom(Struct, frozen=True):
    """The other running tournaments of an occasion, and what their games need."""

    others: Sequence[Tournament]
    elsewhere: BusyElsewhere


def room_for_change(transaction: Transaction, tournament: Tournament) -> SharedRoom | None:
    """The room of a tournament that this transaction changes; None for a tournament that shares none."""
    occasion_id = tournament.details.get(snapshot.EVENT)
    if occasion_id is None or tournament.status != "started":
        return None
    db = transaction.connection
    if db.dialect.name == "postgresql":
        db.execute(LOCK_ROOM, {"kind": ROOM_LOCK, "occasion_id": occasion_id})
    others = [
        loaded.load_with_host(transaction, tournament_id)[0].tournament
        for tournament_id in _other_ids(db, occasion_id, tournament.tournament_id)
    ]
    return SharedRoom(others, shared_room.busy_elsewhere(others)) if others else None


def shared_room_of(db: Connection, tournament: Tournament) -> SharedRoom | None:
    """The room of a tournament as a reader sees it; None for a tournament that shares none."""
    occasion_id = tournament.details.get(snapshot.EVENT)
    if occasion_id is None:
        return None
    others = [
        loaded.load_tournament(db, tournament_id)
        for tournament_id in _other_ids(db, occasion_id, tournament.tournament_id)
    ]
    return SharedRoom(others, shared_room.busy_elsewhere(others)) if others else None


def with_busy_elsewhere(db: Connection, tournament: Tournament) -> Tournament:
    """The tournament with who and what is busy in the others that share its room, for its draws."""
    room = shared_room_of(db, tournament)
    return tournament if room is None else shared_room.with_busy_elsewhere(tournament, room.elsewhere)


def busy_player_ids(db: Connection, tournament_id: int) -> tuple[int, ...]:
    """The entrants who are busy in another tournament of the room; mostly none, and nothing is loaded."""
    if db.execute(select(_ENTRY.occasion_id).where(_ENTRY.tournament_id == tournament_id)).first() is None:
        return ()
    return with_busy_elsewhere(db, loaded.load_tournament(db, tournament_id)).state.busy_player_ids


def _other_ids(db: Connection, occasion_id: int, tournament_id: int) -> list[int]:
    found = _OTHERS.rows(db, own_occasion_id=occasion_id, own_id=tournament_id)
    return [other_id for other_id, type_ in found if type_ in FORMATS]


def running_rooms(db: Connection) -> dict[int, dict[int, int]]:
    """Occasion -> tournament -> revision, of the occasions with several running tournaments."""
    rooms: dict[int, dict[int, int]] = {}
    for occasion_id, tournament_id, revision in _RUNNING.rows(db):
        rooms.setdefault(occasion_id, {})[tournament_id] = revision
    return {occasion_id: found for occasion_id, found in rooms.items() if len(found) > 1}
