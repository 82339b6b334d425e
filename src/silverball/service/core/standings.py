"""Rank a tournament and store its standings in the shape that the interface publishes."""

from collections.abc import Mapping, Sequence
from decimal import ROUND_HALF_EVEN, Decimal
from typing import Any

import msgspec
from sqlalchemy import Connection, bindparam, delete, insert
from sqlalchemy import update as change

from silverball.rules.model.changes import TournamentImported
from silverball.rules.model.tournament import Tournament
from silverball.rules.registry import FORMATS
from silverball.service.core.standing_shapes import wire_standing
from silverball.store import snapshot
from silverball.store.loaded import LoadedTournament
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


def store_ranking(db: Connection, before: LoadedTournament, after: Tournament) -> dict[int, str]:
    """Store the rows of the standings that have changed. Returns player id -> row as text, for all rows."""
    return update_standings(db, after.tournament_id, _ranked(after), before.standings)


def store_imported(db: Connection, imported: TournamentImported) -> None:
    """Store the standings that an import brings, or rank the tournament where it brings none."""
    if "standings" in imported.parts:
        rows = msgspec.convert(imported.parts["standings"], list[Standing])
    else:
        rows = _ranked(snapshot.load(db, imported.tournament_id))
    replace_standings(db, imported.tournament_id, rows)


def _ranked(tournament: Tournament) -> list[Standing]:
    """The rows by place; none before the start."""
    if tournament.status == "planned":
        return []
    return [wire_standing(ranked) for ranked in FORMATS[tournament.type].rank(tournament)]


def replace_standings(db: Connection, tournament_id: int, rows: Sequence[Standing]) -> None:
    """Store these rows in place of the stored ones.

    Raises ValueError when the points of a row are a text that is no number.
    """
    db.execute(delete(standing).where(standing.c.tournament_id == tournament_id))
    if rows:
        db.execute(insert(standing), [_standing_row(tournament_id, row) for row in rows])


def update_standings(
    db: Connection, tournament_id: int, rows: Sequence[Standing], stored: Mapping[int, str]
) -> dict[int, str]:
    """Store those of these rows that differ from the stored ones.

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
            UPDATE_STANDING, [{f"new_{name}": value for name, value in row.items()} for row in changed]
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
    """Points to two decimals, for sorting and search; the row keeps the points that it was given."""
    try:
        return Decimal(str(points)).quantize(HUNDREDTH, ROUND_HALF_EVEN)
    except ArithmeticError as error:
        raise ValueError(f"{points!r} is not a number of points") from error
