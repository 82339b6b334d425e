"""Tournaments loaded for a reader or for a change, from memory or from rows."""

from collections.abc import Sequence

from msgspec import Struct
from sqlalchemy import Connection, Text, bindparam, select, text, type_coerce

from silverball.kit.errors import Conflict, NotFound
from silverball.kit.values import decode, replace
from silverball.rules.drawing.groups import GROUP_SIZE, PAIR_SIZE
from silverball.rules.mechanics import shared_room
from silverball.rules.mechanics.shared_room import BusyElsewhere
from silverball.rules.model.tournament import Tournament
from silverball.rules.registry import FORMATS
from silverball.store import tables
from silverball.store.database.statements import Statement
from silverball.store.database.transaction import Transaction
from silverball.store.revisions.stamps import Revision
from silverball.store.tournament import snapshot
from silverball.store.tournament.loaded import LoadedTournament

_TOURNAMENT, _MIRROR = tables.tournament.c, tables.mirror.c
_SELECT_NEWEST = Statement(
    select(_TOURNAMENT.revision, _TOURNAMENT.stamp, _TOURNAMENT.type, _MIRROR.host)
    .select_from(
        tables.tournament.outerjoin(tables.mirror, _MIRROR.tournament_id == _TOURNAMENT.tournament_id)
    )
    .where(_TOURNAMENT.tournament_id == bindparam("own_id"))
)


class FormatUnknown(Conflict):
    """The format of the tournament is not in the registry: it came with an import."""

    sentence = "Tournaments of the type {type} can be read here, but not changed."


class RunElsewhere(Conflict):
    """The tournament is a mirror of one that is run on another service."""

    sentence = "This tournament is run at {host}."


def load_tournament(db: Connection, tournament_id: int) -> Tournament:
    """The tournament as a reader sees it. Raises NotFound and FormatUnknown."""
    return load_with_revision(db, tournament_id).tournament


def load_with_revision(db: Connection, tournament_id: int) -> LoadedTournament:
    """The tournament with its revision. Raises NotFound and FormatUnknown."""
    revision, _host = _current_revision(db, tournament_id)
    return snapshot.load_at_revision(db, tournament_id, revision)


def load_for_change(transaction: Transaction, tournament_id: int) -> LoadedTournament:
    """The tournament as the transaction sees it that will change it.

    Raises NotFound, FormatUnknown, and RunElsewhere for a mirror, which nobody changes here.
    """
    before, host = load_with_host(transaction, tournament_id)
    refuse_mirror(host)
    return before


def load_with_host(transaction: Transaction, tournament_id: int) -> tuple[LoadedTournament, str | None]:
    """The tournament as the transaction sees it, and the host that runs it, if that is elsewhere.

    For callers who only look at it, or refuse the mirror themselves after others have been refused.
    """
    revision, host = _current_revision(transaction.connection, tournament_id)
    return snapshot.load_for_change(transaction, tournament_id, revision), host


def refuse_mirror(host: str | None) -> None:
    """Raise RunElsewhere when another host runs the tournament."""
    if host is not None:
        raise RunElsewhere(host=host)


def load_mirrored(transaction: Transaction, tournament_id: int) -> LoadedTournament:
    """A mirror as the transaction sees it that brings what has changed elsewhere."""
    return load_with_host(transaction, tournament_id)[0]


def _current_revision(db: Connection, tournament_id: int) -> tuple[Revision, str | None]:
    """The revision, and the host that runs the tournament if it is run elsewhere."""
    found = _SELECT_NEWEST.rows(db, own_id=tournament_id)
    if not found:
        raise NotFound("Tournament", tournament_id)
    ((number, stamp, type_, host),) = found
    if type_ not in FORMATS:
        raise FormatUnknown(type=type_)
    return Revision(number, stamp), host


# The tournaments of an occasion that run at the same time, and so share their machines and people.
#
# A tournament reads the others and never changes or locks them. On PostgreSQL writers of one occasion come
# one after the other through a lock of its own, taken last and held until the commit, so that no two of
# them call the same player: decision 0023.


# How many play each machine of a tournament at once, as the machine database has it.
_MACHINES = Statement(
    select(tables.lineup_arena.c.arena_id, type_coerce(tables.machine.c.entry, Text))
    .join(tables.arena, tables.arena.c.arena_id == tables.lineup_arena.c.arena_id)
    .join(tables.machine, tables.machine.c.opdb_id == tables.arena.c.opdb_id)
    .where(tables.lineup_arena.c.tournament_id == bindparam("own_id"))
    .order_by(tables.lineup_arena.c.arena_id)
)


class _MachineFacts(Struct, rename="camel", frozen=True):
    """The part of an entry of the machine database about its players."""

    player_count: int | None = None


# The first key of the lock; the second one is the occasion.
ROOM_LOCK = 1_879
LOCK_ROOM = text("SELECT pg_advisory_xact_lock(:kind, :occasion_id)")
_ENTRY = tables.occasion_tournament.c
_OTHERS = Statement(
    select(_TOURNAMENT.tournament_id, _TOURNAMENT.type)
    .join(tables.occasion_tournament, _ENTRY.tournament_id == _TOURNAMENT.tournament_id)
    .where(
        _ENTRY.occasion_id == bindparam("own_occasion_id"),
        _TOURNAMENT.tournament_id != bindparam("own_id"),
        _TOURNAMENT.status == "started",
    )
    .order_by(_TOURNAMENT.tournament_id)
)
_RUNNING = Statement(
    select(_ENTRY.occasion_id, _TOURNAMENT.tournament_id, _TOURNAMENT.revision)
    .join(tables.tournament, _TOURNAMENT.tournament_id == _ENTRY.tournament_id)
    .where(_TOURNAMENT.status == "started")
    .order_by(_ENTRY.occasion_id, _TOURNAMENT.tournament_id)
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
        load_with_host(transaction, tournament_id)[0].tournament
        for tournament_id in _other_ids(db, occasion_id, tournament.tournament_id)
    ]
    return SharedRoom(others, shared_room.busy_elsewhere(others)) if others else None


def shared_room_of(db: Connection, tournament: Tournament) -> SharedRoom | None:
    """The room of a tournament as a reader sees it; None for a tournament that shares none."""
    occasion_id = tournament.details.get(snapshot.EVENT)
    if occasion_id is None:
        return None
    others = [
        load_tournament(db, tournament_id)
        for tournament_id in _other_ids(db, occasion_id, tournament.tournament_id)
    ]
    return SharedRoom(others, shared_room.busy_elsewhere(others)) if others else None


def with_busy_elsewhere(db: Connection, tournament: Tournament) -> Tournament:
    """The tournament with who and what is busy in the others that share its room, for its draws."""
    room = shared_room_of(db, tournament)
    return tournament if room is None else shared_room.with_busy_elsewhere(tournament, room.elsewhere)


def with_arena_limits(db: Connection, tournament: Tournament) -> Tournament:
    """The tournament with its machines for fewer players than a group may have, by the machine database.

    As it is where nobody plays in groups. Two can play any machine, one after the other if need be.
    """
    if FORMATS[tournament.type].players_per_game <= PAIR_SIZE:
        return tournament
    limits = {}
    for arena_id, entry in _MACHINES.rows(db, own_id=tournament.tournament_id):
        known = decode(entry, _MachineFacts).player_count
        if known is not None and known < GROUP_SIZE:
            limits[arena_id] = max(known, PAIR_SIZE)
    if not limits:
        return tournament
    return replace(tournament, state=replace(tournament.state, arena_limits=limits))


def busy_player_ids(db: Connection, tournament_id: int) -> tuple[int, ...]:
    """The entrants who are busy in another tournament of the room; mostly none, and nothing is loaded."""
    if db.execute(select(_ENTRY.occasion_id).where(_ENTRY.tournament_id == tournament_id)).first() is None:
        return ()
    return with_busy_elsewhere(db, load_tournament(db, tournament_id)).state.busy_player_ids


def _other_ids(db: Connection, occasion_id: int, tournament_id: int) -> list[int]:
    found = _OTHERS.rows(db, own_occasion_id=occasion_id, own_id=tournament_id)
    return [other_id for other_id, type_ in found if type_ in FORMATS]


def running_rooms(db: Connection) -> dict[int, dict[int, int]]:
    """Occasion -> tournament -> revision, of the occasions with several running tournaments."""
    rooms: dict[int, dict[int, int]] = {}
    for occasion_id, tournament_id, revision in _RUNNING.rows(db):
        rooms.setdefault(occasion_id, {})[tournament_id] = revision
    return {occasion_id: found for occasion_id, found in rooms.items() if len(found) > 1}
