"""Completed nights for the tests of the bulk tables, small enough to be checked by hand."""

import csv
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sqlalchemy import update

import build
from build import Night
from silverball.exchange import bulk
from silverball.store import tables
from silverball.store.database.engine import Store

MARCH, APRIL = datetime(2026, 3, 5, 19, 30, tzinfo=UTC), datetime(2026, 4, 2, 19, 30, tzinfo=UTC)
NOW = datetime(2026, 5, 1, 9, tzinfo=UTC)


def a_night(store: Store, start: datetime = MARCH, **values: Any) -> Night:
    """A completed night of four players with one game: player 3, 1, 4, 2 with 7, 5, 3, 1 points."""
    night = build.a_tournament(
        store, **{"status": "completed", "start_utc": start, "completed_at": start, **values}
    )
    first, second, third, fourth = night.player_ids
    round_id = build.a_round(store, night.tournament_id, status="completed")
    build.a_game(
        store,
        night.tournament_id,
        night.player_ids,
        round_id=round_id,
        arena_id=night.arena_ids[0],
        status="completed",
        started_at=start,
        duration_seconds=900,
        positions=[third, first, fourth, second],
        points=[5, 1, 7, 3],
        scores=[None, None, 2**63 - 1, None],
    )
    for position, player_id in enumerate((third, first, fourth, second), start=1):
        build.row(
            store,
            tables.standing,
            tournament_id=night.tournament_id,
            player_id=player_id,
            position=position,
            points=[7, 5, 3, 1][position - 1],
            row={"playerId": player_id},
        )
    return night


def claim(store: Store, player_id: int, **opt_outs: Any) -> int:
    """Let a user claim the player, and return the id of the user."""
    user_id = build.a_user(store, **opt_outs)
    with store.write() as transaction:
        own = tables.player.c.player_id == player_id
        values = {"claimed_by": user_id, "ifpa_id": 777_123}
        transaction.connection.execute(update(tables.player).where(own).values(values))
    return user_id


def write_all(store: Store, folder: Path, now: datetime = NOW) -> list[str]:
    """Write every part and the manifest, and return the parts."""
    with store.read() as db:
        current = bulk.parts_to_write(db, now)
    for part in current:
        bulk.write_part(store, part, folder, now)
    bulk.write_manifest(folder)
    return current


def rows(folder: Path, table: str, part: str = "2026-03") -> list[dict[str, str]]:
    """The rows of a CSV file, by column."""
    with (folder / f"{table}-{part}.csv").open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))
