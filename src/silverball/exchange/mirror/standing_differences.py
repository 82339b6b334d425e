"""Standings as they are computed here, compared with those that the other service publishes."""

from collections.abc import Mapping, Sequence
from decimal import Decimal, InvalidOperation
from typing import Any

from silverball.service.mirrors import reads as mirror_reads
from silverball.service.standings import reads
from silverball.store.engine import Db

# Place and points; None where the row has none.
Placing = tuple[int | None, Decimal | None]


def standing_differences(
    db: Db, tournament_id: int, there: Sequence[Mapping[str, Any]], player_ids: Mapping[int, int]
) -> list[str]:
    """A sentence for each player whose place or points differ, by id. `player_ids`: id there -> id here."""
    ours = {
        row.player_id: _placing(row.position, row.points)
        for row in reads.decoded_standings(db, tournament_id)
    }
    theirs = {
        player_ids.get(row["playerId"], row["playerId"]): _placing(row.get("position"), row.get("points"))
        for row in there
        if isinstance(row.get("playerId"), int)
    }
    different = sorted(key for key in {*ours, *theirs} if ours.get(key) != theirs.get(key))
    names = mirror_reads.player_names(db, different)
    return [
        f"{names.get(key, f'Player {key}')} {_placing_text(ours.get(key))} here, "
        f"{_placing_text(theirs.get(key))} there."
        for key in different
    ]


def _placing(position: Any, points: Any) -> Placing:
    try:
        number = None if points is None else Decimal(str(points))
    except InvalidOperation:
        number = None
    return (position if isinstance(position, int) else None), number


def _placing_text(placing: Placing | None) -> str:
    if placing is None or placing[0] is None:
        return "has no place"
    position, points = placing
    return f"has place {position}" if points is None else f"has place {position} with {points:g} points"
