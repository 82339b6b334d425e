"""Update stored machine ids when the machine database changes them."""

from collections.abc import Mapping, Sequence
from itertools import chain

import msgspec
from msgspec import Struct
from sqlalchemy import Column, Connection, bindparam, case, delete, insert, select, update

from silverball.rules.opdb.moves import ResolvedId, resolve_id
from silverball.service.events import feed_events
from silverball.service.machines import reads
from silverball.store import revisions, tables
from silverball.store.transaction import Transaction
from silverball_wire import times
from silverball_wire.machines import OpdbChange

_SUMMARIES = (tables.arena_summary, tables.player_arena_summary, tables.match_summary)
# SQLite accepts 32,766 parameters in one statement.
IDS_AT_ONCE = 1000


class MachineMoves(Struct, frozen=True):
    """The updated ids, and those that could not be updated."""

    arenas: int = 0
    # Old id -> new id, None where the machine was deleted.
    moved: Mapping[str, str | None] = msgspec.field(default_factory=dict)
    # Stored ids whose replacement is not a known entry.
    lost: tuple[str, ...] = ()


def store_changes(db: Connection, changes: Sequence[OpdbChange]) -> int:
    """Store these lines of the list of changes by their numbers, and return the number of new lines."""
    table, key = tables.machine_change, tables.machine_change.c.changelog_id
    before = set(db.execute(select(key)).scalars())
    line_ids = {change.changelog_id for change in changes}
    replaced = [{"own_id": line_id} for line_id in sorted(line_ids & before)]
    if replaced:
        db.execute(delete(table).where(key == bindparam("own_id")), replaced)
    rows = [
        {
            "changelog_id": change.changelog_id,
            "action": change.action,
            "opdb_id_deleted": change.opdb_id_deleted,
            "opdb_id_replacement": change.opdb_id_replacement,
            "created_at": times.parse_moment(change.created_at),
        }
        for change in changes
    ]
    if rows:
        db.execute(insert(table), rows)
    return len(line_ids - before)


def follow_moves(transaction: Transaction) -> MachineMoves:
    """Give arenas, summaries, tips and videos the current ids of their machines.

    Called after every import that names machines or changes their ids: the list of changes may be ahead of
    the entries, and the entries ahead of the list.
    """
    db = transaction.connection
    moves = reads.id_replacements(db)
    if not moves:
        return MachineMoves()
    known = reads.entry_ids(db)
    outcomes = {
        opdb_id: resolve_id(opdb_id, moves, known) for opdb_id in sorted(_stored_ids(db) & moves.keys())
    }
    moved = {
        opdb_id: outcome.opdb_id for opdb_id, outcome in outcomes.items() if outcome != ResolvedId(opdb_id)
    }
    lost = tuple(opdb_id for opdb_id, outcome in outcomes.items() if outcome.is_unknown)
    for opdb_id in lost:
        del moved[opdb_id]
    arenas = _replace_ids(transaction, moved) if moved else 0
    return MachineMoves(arenas, moved, lost)


def _stored_ids(db: Connection) -> set[str]:
    """All ids in use."""
    id_lists = (
        db.execute(select(column).where(column.is_not(None)).distinct()).scalars() for column in _id_columns()
    )
    return set(chain.from_iterable(id_lists))


def _id_columns() -> list[Column[str]]:
    naming_tables = (tables.arena, *_SUMMARIES, tables.tip, tables.machine_video)
    return [table.c.opdb_id for table in naming_tables]


def _replace_ids(transaction: Transaction, moved: Mapping[str, str | None]) -> int:
    """Replace the ids everywhere, raise the affected tournaments, and return the number of changed arenas."""
    db = transaction.connection
    arena_ids = _ids_of_rows_naming(db, tables.arena.c.arena_id, tables.arena.c.opdb_id, moved)
    _replace_in_column(db, tables.arena.c.opdb_id, moved)
    # A concurrent completion of one of these tournaments waits here, or this transaction waits for it. Its
    # summary has the old or the new id, and an old one is replaced below.
    for start in range(0, len(arena_ids), IDS_AT_ONCE):
        feed_events.announce_arenas(transaction, arena_ids[start : start + IDS_AT_ONCE])
    for summary in _SUMMARIES:
        tournament_ids = _ids_of_rows_naming(db, summary.c.tournament_id, summary.c.opdb_id, moved)
        revisions.raise_tournaments(transaction, tournament_ids)
        _replace_in_column(db, summary.c.opdb_id, moved)
    for column in (tables.tip.c.opdb_id, tables.machine_video.c.opdb_id):
        _replace_in_column(db, column, moved)
    return len(arena_ids)


def _ids_of_rows_naming(
    db: Connection, wanted: Column[int], named: Column[str], moved: Mapping[str, str | None]
) -> list[int]:
    ids: set[int] = set()
    olds = sorted(moved)
    for start in range(0, len(olds), IDS_AT_ONCE):
        rows = select(wanted).where(named.in_(olds[start : start + IDS_AT_ONCE])).distinct()
        ids.update(db.execute(rows).scalars())
    return sorted(ids)


def _replace_in_column(db: Connection, column: Column[str], moved: Mapping[str, str | None]) -> None:
    # One pass over the table for many ids. No new id is also an old one, so the order does not matter.
    olds = sorted(moved)
    for start in range(0, len(olds), IDS_AT_ONCE):
        batch = olds[start : start + IDS_AT_ONCE]
        new = case({old: moved[old] for old in batch}, value=column)
        db.execute(update(column.table).where(column.in_(batch)).values({column: new}))
