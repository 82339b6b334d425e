"""An imported tournament as rows."""

from collections.abc import Collection, Iterator, Mapping, Sequence

from sqlalchemy import Column, Connection, Table, delete, func, insert, select, text, update

from silverball.rules.model.changes import TournamentImported
from silverball.store import tables
from silverball.store.database import statements

# The tables of a tournament's parts, in the order in which their rows can be inserted.
PARTS: dict[str, Table] = {
    "entrants": tables.entrant,
    "lineup": tables.lineup_arena,
    "banks": tables.lineup_bank,
    "scorekeepers": tables.scorekeeper,
    "links": tables.tournament_link,
    "shortcuts": tables.shortcut,
    "rounds": tables.round_,
    "cards": tables.card,
    "games": tables.game,
    "seats": tables.game_player,
    "suggestions": tables.suggestion,
    "single_player_games": tables.single_player_game,
    "queue": tables.queue_entry,
    "purchases": tables.entry,
    "sign_ups": tables.sign_up,
    "notes": tables.game_note,
}
SUMMARIES = (tables.arena_summary, tables.player_arena_summary, tables.match_summary)
# Columns that the feed owns, with their first values: an import never overwrites them.
FEED_COLUMNS = {"revision": 0, "stamp": 0, "epoch": "", "seq": 0, "seq_low": 0}

# An id that was given out and deleted again must not come back.
FORWARD_SEQUENCE = text(
    "SELECT setval(CAST(:name AS regclass), GREATEST(:highest, nextval(CAST(:name AS regclass))))"
)


def write_import(db: Connection, change: TournamentImported) -> None:
    """Store the imported tournament in place of any that has its id."""
    row = dict(change.parts["tournament"][0])
    key = tables.tournament.c.tournament_id
    if db.execute(select(key).where(key == change.tournament_id)).first() is None:
        db.execute(insert(tables.tournament).values(**row, **FEED_COLUMNS))
    else:
        _delete_parts(db, change.tournament_id)
        db.execute(update(tables.tournament).where(key == change.tournament_id).values(**row))
    for name, table in PARTS.items():
        rows = change.parts.get(name, ())
        if rows:
            statements.insert_rows(db, table, rows)
    move_sequences(db, [tables.tournament, *PARTS.values()])


def _delete_parts(db: Connection, tournament_id: int) -> None:
    for table in (*SUMMARIES, tables.standing, *reversed(PARTS.values())):
        db.execute(delete(table).where(table.c.tournament_id == tournament_id))


def move_sequences(db: Connection, filled: Sequence[Table]) -> None:
    """Move the id sequences of these tables past the ids that came with imported rows.

    SQLite does so by itself (AUTOINCREMENT).
    """
    if db.dialect.name != "postgresql":
        return
    for table in filled:
        column = table.autoincrement_column
        if column is None:
            continue
        name = db.execute(select(func.pg_get_serial_sequence(f'"{table.name}"', column.name))).scalar_one()
        if name is not None:
            highest = db.execute(select(func.max(column))).scalar_one()
            db.execute(FORWARD_SEQUENCE, {"name": name, "highest": highest or 1})


# The ids that things of other services have here: one map for each source, for every import from it.


SITE = "site"
# Beside the ids on the wire: the account here that gets what an organizer of the source owns.
OWNER = "owner"
# The player here who has the same name, and was said to be somebody else.
NAMESAKE = "namesake"
# SQLite accepts up to 32,766 parameters in a statement.
IDS_AT_ONCE = 5_000
# Of all kinds, in one statement for several.
IDS_TOGETHER = 1_000
# Name of an id on the wire -> id in the source -> id here.
IdMap = dict[str, dict[int, int]]
_ENTRY = tables.remote_id.c
_SITE = tables.site_value.c


def site_name(db: Connection) -> str:
    """The random name by which other services know this database."""
    return str(db.execute(select(_SITE.value).where(_SITE.name == SITE)).scalar_one())


def known_ids(db: Connection, source: str, ids: Mapping[str, Collection[int]]) -> IdMap:
    """The ids here of these things of the source, as far as they are known."""
    known: IdMap = {kind: {} for kind in ids}
    for some in _portions(ids):
        # Kinds share a statement, so it may find more than was asked for.
        every_id = sorted({remote for of_kind in some.values() for remote in of_kind})
        rows = select(_ENTRY.kind, _ENTRY.remote_id, _ENTRY.local_id).where(
            _ENTRY.source == source, _ENTRY.kind.in_(sorted(some)), _ENTRY.remote_id.in_(every_id)
        )
        for kind, remote, local in db.execute(rows):
            if remote in some[kind]:
                known[kind][remote] = local
    return known


def _portions(ids: Mapping[str, Collection[int]]) -> Iterator[dict[str, set[int]]]:
    """All kinds together where they are few ids, else each kind in parts."""
    if sum(map(len, ids.values())) <= IDS_TOGETHER:
        together = {kind: set(of_kind) for kind, of_kind in ids.items() if of_kind}
        if together:
            yield together
        return
    for kind, of_kind in ids.items():
        for part in _parts(of_kind):
            yield {kind: set(part)}


def remember_ids(db: Connection, source: str, ids: IdMap) -> None:
    """Store the ids here of these things of the source, in place of any that they had."""
    known = known_ids(db, source, ids)
    for kind, local_ids in ids.items():
        before = known[kind]
        changed = {remote for remote, local in local_ids.items() if before.get(remote) != local}
        for part in _parts(changed & before.keys()):
            own = (_ENTRY.source == source, _ENTRY.kind == kind)
            db.execute(delete(tables.remote_id).where(*own, _ENTRY.remote_id.in_(part)))
        for part in _parts(changed):
            values = {"source": source, "kind": kind}
            new = [{**values, "remote_id": remote, "local_id": local_ids[remote]} for remote in part]
            statements.insert_rows(db, tables.remote_id, new)


def replace_local_id(db: Connection, kind: str, old_id: int, new_id: int) -> list[tuple[str, int]]:
    """Map to the new id what was mapped to the old one, after a merge; returns source and id of each."""
    entries = update(tables.remote_id).where(_ENTRY.kind == kind, _ENTRY.local_id == old_id)
    moved = entries.values(local_id=new_id).returning(_ENTRY.source, _ENTRY.remote_id)
    return [(source, remote_id) for source, remote_id in db.execute(moved)]


def restore_local_ids(
    db: Connection, kind: str, moved: Sequence[tuple[str, int]], old_id: int, new_id: int
) -> None:
    """Map to the new id again what `replace_local_id` moved, where it still has the old one."""
    for source, remote_id in moved:
        entry = (_ENTRY.source == source, _ENTRY.kind == kind, _ENTRY.remote_id == remote_id)
        own = update(tables.remote_id).where(*entry, _ENTRY.local_id == old_id)
        db.execute(own.values(local_id=new_id))


def forget_local_ids(db: Connection, kind: str, local_ids: Collection[int]) -> None:
    """Delete what is mapped to these ids, so that later imports do not find them."""
    for part in _parts(local_ids):
        db.execute(delete(tables.remote_id).where(_ENTRY.kind == kind, _ENTRY.local_id.in_(part)))


def _parts(ids: Collection[int]) -> Iterator[list[int]]:
    """The ids in order, as many at a time as a statement takes."""
    ordered = sorted(ids)
    for start in range(0, len(ordered), IDS_AT_ONCE):
        yield ordered[start : start + IDS_AT_ONCE]


# In one statement.

Ids = Mapping[str, Collection[int]]


def present_ids(db: Connection, columns: Mapping[str, Column[int]], ids: Ids) -> dict[str, set[int]]:
    """Those of the ids of each kind that are in use; `columns` has the id column of each kind."""
    found: dict[str, set[int]] = {kind: set() for kind in ids}
    kinds = list(ids)
    for parts in _statements(columns, ids, kinds):
        for place, present in db.exec_driver_sql(" UNION ALL ".join(parts)):
            found[kinds[place]].add(present)
    return found


def _statements(columns: Mapping[str, Column[int]], ids: Ids, kinds: list[str]) -> Iterator[list[str]]:
    """The parts of each statement. The ids are in the text: binding them takes longer than the search."""
    parts: list[str] = []
    count = 0
    for place, kind in enumerate(kinds):
        ordered = sorted({int(each) for each in ids[kind]})
        for start in range(0, len(ordered), IDS_AT_ONCE):
            some = ordered[start : start + IDS_AT_ONCE]
            if count and count + len(some) > IDS_AT_ONCE:
                yield parts
                parts, count = [], 0
            parts.append(_select(place, columns[kind], some))
            count += len(some)
    if parts:
        yield parts


def _select(place: int, column: Column[int], ids: list[int]) -> str:
    table, listed = column.table.name, ", ".join(map(str, ids))
    return f'SELECT {place}, "{column.name}" FROM "{table}" WHERE "{column.name}" IN ({listed})'  # noqa: S608  # names of our own, and numbers
