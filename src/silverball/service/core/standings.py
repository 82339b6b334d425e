"""Standings are stored as they are shown."""

from collections.abc import Mapping, Sequence
from decimal import ROUND_HALF_EVEN, Decimal
from typing import Any

import msgspec
from sqlalchemy import Connection, bindparam, delete, insert
from sqlalchemy import update as change

from silverball.store.tables import standing
from silverball.wire.standings import Standing

HUNDREDTH = Decimal("0.01")
UPDATE_STANDING = (
    change(standing)
    .where(
        standing.c.tournament_id == bindparam("new_tournament_id"),
        standing.c.player_id == bindparam("new_player_id"),
    )
    .values(
        {
            name: bindparam(f"new_{name}", type_=standing.c[name].type)
            for name in ("position", "points", "row")
        }
    )
)


def replace_standings(db: Connection, tournament_id: int, rows: Sequence[Standing]) -> None:
    """Store these rows instead of those that are there.

    Raises ValueError when the points of a row are a text that is no number.
    """
    db.execute(delete(standing).where(standing.c.tournament_id == tournament_id))
    if rows:
        db.execute(insert(standing), [_standing_row(tournament_id, row) for row in rows])


def update_standings(
    db: Connection, tournament_id: int, rows: Sequence[Standing], stored: Mapping[int, str]
) -> dict[int, str]:
    """Store those of these rows that differ from what is stored; returns what is stored now.

    Takes and returns player id -> row as text.
    """
    texts = {row.player_id: msgspec.json.encode(row).decode() for row in rows}
    gone = [player_id for player_id in stored if player_id not in texts]
    if gone:
        own = standing.c.tournament_id == tournament_id
        db.execute(delete(standing).where(own, standing.c.player_id.in_(gone)))
    differing = [row for row in rows if stored.get(row.player_id) != texts[row.player_id]]
    new = [_standing_row(tournament_id, row) for row in differing if row.player_id not in stored]
    changed = [_standing_row(tournament_id, row) for row in differing if row.player_id in stored]
    if new:
        db.execute(insert(standing), new)
    if changed:
        db.execute(
            UPDATE_STANDING, [{f"new_{name}": value for name, value in one.items()} for one in changed]
        )
    return texts


def _standing_row(tournament_id: int, row: Standing) -> dict[str, Any]:
    return {
        "tournament_id": tournament_id,
        "player_id": row.player_id,
        "position": row.position,
        "points": None if row.points is None else _hundredths(row.points),
        "row": row,
    }


def _hundredths(points: str | float) -> Decimal:
    """Points to two decimals, for sorting and search; the row keeps what it was given."""
    try:
        return Decimal(str(points)).quantize(HUNDREDTH, ROUND_HALF_EVEN)
    except ArithmeticError as error:
        raise ValueError(f"{points!r} is not a number of points") from error
