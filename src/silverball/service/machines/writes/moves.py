"""Whatever names a machine follows the machine when its id changes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain

from sqlalchemy import Column, Connection, bindparam, case, delete, insert, select, update

from silverball.rules.opdb.moves import ResolvedId, resolve_id
from silverball.service.events import feed_events
from silverball.service.machines import reads
from silverball.store import revisions, tables
from silverball.store.transaction import Transaction
from silverball.wire import times
from silverball.wire.machines import OpdbChange

_SUMMARIES = (tables.arena_summary, tables.player_arena_summary, tables.match_summary)
# SQLite takes 32,766 parameters in one statement.
IDS_AT_ONCE = 1000


@dataclass(frozen=True)
class MachineMoves:
    """What was changed, and what could not be."""

    arenas: int = 0
    # Id -> the id that is stored in its place now, None where the machine was deleted.
    moved: Mapping[str, str | None] = field(default_factory=dict)
    # Ids that are stored, were replaced, and lead to no entry that is known.
    lost: tuple[str, ...] = ()


def store_changes(db: Connection, changes: Sequence[OpdbChange]) -> int:
    """Put these lines into the list of changes, over those with their numbers; returns how many are new."""
    table, key = tables.machine_change, tables.machine_change.c.changelog_id
    before = set(db.execute(select(key)).scalars())
    mine = {one.changelog_id for one in changes}
    again = [{"own_id": one} for one in sorted(mine & before)]
    if again:
        db.execute(delete(table).where(key == bindparam("own_id")), again)
    rows = [
        {
            "changelog_id": one.changelog_id,
            "action": one.action,
            "opdb_id_deleted": one.opdb_id_deleted,
            "opdb_id_replacement": one.opdb_id_replacement,
            "created_at": times.parse_moment(one.created_at),
        }
        for one in changes
    ]
    if rows:
        db.execute(insert(table), rows)
    return len(mine - before)


def follow_moves(transaction: Transaction) -> MachineMoves:
    """Give arenas, summaries, tips and films the ids that their machines have now.

    Called whenever something comes in that names machines, or says where they went: the list of changes may
    be ahead of the entries, and the entries ahead of the list.
    """
    db = transaction.connection
    moves = reads.id_replacements(db)
    if not moves:
        return MachineMoves()
    known = reads.entry_ids(db)
    outcomes = {one: resolve_id(one, moves, known) for one in sorted(_stored_ids(db) & moves.keys())}
    moved = {one: outcome.opdb_id for one, outcome in outcomes.items() if outcome != ResolvedId(one)}
    lost = tuple(one for one, outcome in outcomes.items() if outcome.is_unknown)
    for one in lost:
        del moved[one]
    arenas = _replace_ids(transaction, moved) if moved else 0
    return MachineMoves(arenas, moved, lost)


def _stored_ids(db: Connection) -> set[str]:
    """Every id that something has."""
    found = (db.execute(select(one).where(one.is_not(None)).distinct()).scalars() for one in _id_columns())
    return set(chain.from_iterable(found))


def _id_columns() -> list[Column[str]]:
    named = (tables.arena, *_SUMMARIES, tables.tip, tables.machine_video)
    return [one.c.opdb_id for one in named]


def _replace_ids(transaction: Transaction, moved: Mapping[str, str | None]) -> int:
    """Returns how many arenas have another id now. Every tournament that shows one is newer and tells so."""
    db = transaction.connection
    arena_ids = _ids_of_rows_naming(db, tables.arena.c.arena_id, tables.arena.c.opdb_id, moved)
    _replace_in_column(db, tables.arena.c.opdb_id, moved)
    # Who completes one of these tournaments meanwhile waits here, or is waited for: his summary has an
    # arena's id from before or after, and is renamed below when it is from before.
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
    found: set[int] = set()
    olds = sorted(moved)
    for start in range(0, len(olds), IDS_AT_ONCE):
        rows = select(wanted).where(named.in_(olds[start : start + IDS_AT_ONCE])).distinct()
        found.update(db.execute(rows).scalars())
    return sorted(found)


def _replace_in_column(db: Connection, column: Column[str], moved: Mapping[str, str | None]) -> None:
    # One pass over the table for many ids. None of them leads to another one, so the order does not matter.
    olds = sorted(moved)
    for start in range(0, len(olds), IDS_AT_ONCE):
        some = olds[start : start + IDS_AT_ONCE]
        new = case({old: moved[old] for old in some}, value=column)
        db.execute(update(column.table).where(column.in_(some)).values({column: new}))
