"""Summaries are computed once, when a tournament completes or a completed one comes in."""

from typing import Any

from msgspec import structs
from sqlalchemy import Connection, Table, delete, false, select

from silverball.rules.ranking import summaries
from silverball.rules.ranking.summaries import GameRecord
from silverball.service.formats import reads as formats
from silverball.service.games.reads import played as played_games
from silverball.store import statements
from silverball.store.tables import (
    arena,
    arena_summary,
    match_summary,
    player_arena_summary,
    single_player_game,
)


def store_summaries(db: Connection, tournament_id: int) -> None:
    """Store the summaries of a tournament instead of those that are there.

    A tournament that is not completed has none. Raises NotFound.
    """
    tournament = formats.tournament_facts(db, tournament_id)
    records = _game_records(db, tournament_id) if tournament.status == "completed" else []
    rule = tournament.win_loss_rule
    opdb_ids = _opdb_ids(db, {record.arena_id for record in records if record.arena_id is not None})
    _replace_summaries(db, arena_summary, tournament_id, summaries.arena_summaries(records), opdb_ids)
    _replace_summaries(
        db, player_arena_summary, tournament_id, summaries.player_arena_summaries(rule, records), opdb_ids
    )
    _replace_summaries(db, match_summary, tournament_id, summaries.match_summaries(rule, records), opdb_ids)


def _game_records(db: Connection, tournament_id: int) -> list[GameRecord]:
    attempt = single_player_game.c
    attempts = select(attempt.arena_id, attempt.player_id).where(
        attempt.tournament_id == tournament_id,
        attempt.status == "completed",
        attempt.voided.is_(false()),
    )
    records = [game.record for game in played_games.completed_games(db, tournament_id)]
    return records + [
        GameRecord(row.arena_id, (row.player_id,), is_single_player=True)
        for row in db.execute(attempts.order_by(attempt.single_player_game_id)).all()
    ]


def _opdb_ids(db: Connection, arena_ids: set[int]) -> dict[int, str | None]:
    rows = select(arena.c.arena_id, arena.c.opdb_id).where(arena.c.arena_id.in_(sorted(arena_ids)))
    return {row.arena_id: row.opdb_id for row in db.execute(rows).all()}


def _replace_summaries(
    db: Connection, table: Table, tournament_id: int, rows: list[Any], opdb_ids: dict[int, str | None]
) -> None:
    db.execute(delete(table).where(table.c.tournament_id == tournament_id))
    if not rows:
        return
    # Not `asdict`, which copies each value of thousands.
    names = [field.name for field in structs.fields(rows[0])]
    stored = [
        {
            "tournament_id": tournament_id,
            **{name: getattr(row, name) for name in names},
            "opdb_id": opdb_ids[row.arena_id],
        }
        for row in rows
    ]
    statements.insert_rows(db, table, stored)
