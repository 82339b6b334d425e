"""An imported tournament as rows."""

from collections.abc import Sequence

from sqlalchemy import Connection, Table, delete, func, insert, select, text, update

from silverball.rules.model.changes import TournamentImported
from silverball.store import statements, tables

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
