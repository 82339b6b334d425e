"""Expected points and standings of a series, computed naively. Source: formats, section 21."""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from msgspec import Struct

from silverball.rules.scoring import curves

ZERO = Decimal(0)
# In a series of pingolf few points win.
FEW_WIN = "pingolf"


class SeriesNight(Struct, frozen=True, kw_only=True):
    """A tournament that counts: player id -> place and points, and the places in its finals, best first."""

    places: Mapping[int, tuple[int, Decimal]]
    finals: Sequence[Mapping[int, int]] = ()


def night_points(night: SeriesNight, scoring: str, custom: Sequence[int]) -> dict[int, Decimal]:
    """Player id -> points of a night: its own, or those of a curve, where finals decide the places."""
    if scoring not in curves.CURVES:
        return {player_id: points for player_id, (_, points) in night.places.items()}
    keys = {player_id: (len(night.finals), place) for player_id, (place, _) in night.places.items()}
    for number, final in reversed(list(enumerate(night.finals))):
        keys |= {player_id: (number, final[player_id]) for player_id in final if player_id in keys}
    earned = {}
    for player_id, key in keys.items():
        better = sum(other < key for other in keys.values())
        equal = sum(other == key for other in keys.values())
        ranks = range(better + 1, better + equal + 1)
        worth = sum(curves.points_of_rank(scoring, rank, custom) for rank in ranks)
        # The mean, halves up.
        earned[player_id] = Decimal((2 * worth + equal) // (2 * equal))
    return earned


def series_table(
    nights: Sequence[Mapping[int, Decimal]], scoring: str, removed_results: int
) -> dict[int, tuple[int, Decimal, Decimal | None]]:
    """Player id -> place, points of all nights, and points of those that count where some do not."""
    most = len(nights)
    if removed_results < 0:
        most = -removed_results
    elif len(nights) > removed_results:
        most = len(nights) - removed_results
    own: dict[int, list[Decimal]] = {}
    for night in nights:
        for player_id, points in night.items():
            own.setdefault(player_id, []).append(points)
    counted = {
        player_id: sum(sorted(points, reverse=scoring != FEW_WIN)[:most], ZERO)
        for player_id, points in own.items()
    }
    keys: dict[int, Any] = {
        player_id: (max(0, most - len(own[player_id])), total) if scoring == FEW_WIN else -total
        for player_id, total in counted.items()
    }
    return {
        player_id: (
            1 + sum(other < keys[player_id] for other in keys.values()),
            sum(own[player_id], ZERO),
            total if removed_results else None,
        )
        for player_id, total in counted.items()
    }
