"""How the points of a tournament are shared out among its places. Source: ratings, B.4."""

from collections import Counter
from collections.abc import Sequence

from silverball.rules.wppr.value import sum_in_order

LINEAR_SHARE = 0.10
DYNAMIC_SHARE = 0.90


def place_points(positions: Sequence[int], *, rated_players: int, winner_points: float) -> list[float]:
    """What each place is worth, in the order of `positions`; not rounded (it is shown with two decimals).

    positions: one per player, from 1; who shares a place shares the points of the places it covers, so
    two seconds are followed by a fourth. rated_players: how many of them are rated; the dynamic share
    goes to the upper half of so many. first_place: the value of the tournament with its grade.
    Raises ValueError when the positions are not those of a finished tournament, or no player can be rated.
    """
    counts = Counter(positions)
    _refuse_gaps(counts)
    if not 0 <= rated_players <= len(positions):
        raise ValueError(f"{rated_players} of {len(positions)} players cannot be rated")
    shared: dict[int, float] = {}
    for position, count in counts.items():
        covered = range(position, position + count)
        worth = (_unshared_points(place, len(positions), rated_players, winner_points) for place in covered)
        shared[position] = sum_in_order(worth) / count
    return [shared[position] for position in positions]


def _unshared_points(place: int, players: int, rated_players: int, first_place: float) -> float:
    """The points of a place that nobody shares."""
    linear = (players + 1 - place) * LINEAR_SHARE * first_place / players
    # The half of the rated field, without an upper limit since the rules of 2024.
    reach = rated_players / 2
    if place - 1 >= reach:
        return linear
    return linear + float((1 - ((place - 1) / reach) ** 0.7) ** 3) * DYNAMIC_SHARE * first_place


def _refuse_gaps(counts: Counter[int]) -> None:
    expected = 1
    for position in sorted(counts):
        if position != expected:
            raise ValueError(f"place {position} cannot follow: the next one is {expected}")
        expected += counts[position]
