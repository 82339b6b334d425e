"""Tiebreakers between players with equal points. Source: formats, section 13.4.

Each function of a tiebreaker returns player id -> PointsTiebreak: the values that the standings show
(points first) and the sort key, highest first.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from decimal import ROUND_HALF_UP, Decimal
from typing import TypeAlias

from msgspec import Struct

Points: TypeAlias = Mapping[int, Decimal]
FinishingOrder: TypeAlias = Sequence[int | None]
OPPONENTS_FOR_MEDIAN = 3
SHOWN_MEAN = Decimal("0.01")


class PointsTiebreak(Struct, frozen=True):
    """The `tiebreakers` of a row (points, then numbers) and its sort key, highest first."""

    values: tuple[Decimal, ...]
    key: tuple[Decimal, ...]


def solkoff(opponent_points: Sequence[Decimal]) -> Decimal:
    """Sum of the final points of all opponents met, one value per meeting. Source: formats, 13.4."""
    return sum(opponent_points, Decimal(0))


def median_buchholz(opponent_points: Sequence[Decimal]) -> Decimal:
    """The Solkoff sum without the highest and the lowest; 0 below three opponents. Source: formats, 13.4."""
    if len(opponent_points) < OPPONENTS_FOR_MEDIAN:
        return Decimal(0)
    return solkoff(opponent_points) - max(opponent_points) - min(opponent_points)


def points_only(points: Points) -> dict[int, PointsTiebreak]:
    """Points only. Takes player id -> points. Source: formats, 13.4."""
    return {player_id: PointsTiebreak((own,), (own,)) for player_id, own in points.items()}


def standard_tiebreaks(points: Points, opponents: Mapping[int, Sequence[int]]) -> dict[int, PointsTiebreak]:
    """Points, Median-Buchholz, Solkoff, all descending.

    Takes player id -> points (adjustments included) and player id -> the opponents met, one entry per
    meeting (in groups every other player of every game); byes have none. An opponent without points
    counts 0. Source: formats, 13.4.
    """
    broken: dict[int, PointsTiebreak] = {}
    for player_id, own in points.items():
        totals = [points.get(opponent_id, Decimal(0)) for opponent_id in opponents.get(player_id, ())]
        values = (own, median_buchholz(totals), solkoff(totals))
        broken[player_id] = PointsTiebreak(values, values)
    return broken


def mean_strength_tiebreaks(
    points: Points, opponents: Mapping[int, Sequence[int]]
) -> dict[int, PointsTiebreak]:
    """Points, the mean of the opponents without the best and the worst, the mean of all; all descending.

    For groups, where the players of a three meet fewer opponents than those of a four, which would make
    their sums smaller. Takes the same as `standard_tiebreaks`; the exact means are compared, and shown
    with two decimals. Source: formats, 13.4.
    """
    broken: dict[int, PointsTiebreak] = {}
    for player_id, sums in standard_tiebreaks(points, opponents).items():
        own, median, full = sums.key
        met = len(opponents.get(player_id, ()))
        means = (median / max(met - 2, 1), full / max(met, 1))
        shown = (mean.quantize(SHOWN_MEAN, ROUND_HALF_UP) for mean in means)
        broken[player_id] = PointsTiebreak((own, *shown), (own, *means))
    return broken


def placement_tiebreaks(
    points: Points, finishing_orders: Iterable[FinishingOrder]
) -> dict[int, PointsTiebreak]:
    """Points, first places, second places, all descending.

    Takes player id -> points and the finishing orders of the completed games; a null place is ignored.
    A real row is 45.00, 5, 2. Source: formats, section 13.4.
    """
    places = _place_counts(finishing_orders)
    return _descending_tiebreaks(points, places, (1, 2))


def wins_tiebreaks(points: Points, finishing_orders: Iterable[FinishingOrder]) -> dict[int, PointsTiebreak]:
    """Points, then first places, descending. Takes the same as `placement_tiebreaks`. Source: 13.4."""
    return _descending_tiebreaks(points, _place_counts(finishing_orders), (1,))


def placement_last_tiebreaks(
    points: Points, finishing_orders: Iterable[FinishingOrder]
) -> dict[int, PointsTiebreak]:
    """Points, then last places, fewer is better. Takes the same as `placement_tiebreaks`. Source: 13.4."""
    lasts: Counter[int | None] = Counter(order[-1] for order in finishing_orders if len(order) > 1)
    return {
        player_id: PointsTiebreak((own, Decimal(lasts[player_id])), (own, Decimal(-lasts[player_id])))
        for player_id, own in points.items()
    }


def seed_tiebreaks(points: Points, seed_ranks: Mapping[int, int]) -> dict[int, PointsTiebreak]:
    """Points, then the lower seed rank, so that no ties remain. Source: formats, section 13.4."""
    return {
        player_id: PointsTiebreak(
            (own, Decimal(seed_ranks[player_id])), (own, Decimal(-seed_ranks[player_id]))
        )
        for player_id, own in points.items()
    }


def _place_counts(finishing_orders: Iterable[FinishingOrder]) -> Counter[tuple[int, int]]:
    """(player id, place from 1) -> number of games in which the player finished there."""
    places: Counter[tuple[int, int]] = Counter()
    for order in finishing_orders:
        for place, player_id in enumerate(order, start=1):
            if player_id is not None and len(order) > 1:
                places[player_id, place] += 1
    return places


def _descending_tiebreaks(
    points: Points, places: Counter[tuple[int, int]], counted: Sequence[int]
) -> dict[int, PointsTiebreak]:
    broken: dict[int, PointsTiebreak] = {}
    for player_id, own in points.items():
        values = (own, *(Decimal(places[player_id, place]) for place in counted))
        broken[player_id] = PointsTiebreak(values, values)
    return broken
