"""Distribution of a tournament's points over its places. Source: ratings, B.4."""

from collections import Counter
from collections.abc import Sequence

from silverball.rules.wppr.value import sum_in_order

LINEAR_SHARE = 0.10
DYNAMIC_SHARE = 0.90


def place_points(positions: Sequence[int], *, rated_players: int, winner_points: float) -> list[float]:
    """Points of each place, in the order of `positions`; not rounded (two decimals are displayed).

    positions: one per player, from 1; players who share a place share the points of the places it covers,
    so two seconds are followed by a fourth. rated_players: the number of rated players; the dynamic share
    goes to the upper half of this number. winner_points: the value of the tournament with its grade.
    Raises ValueError for positions that no completed tournament has, or an impossible rated_players.
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
    """The points of a place held by one player."""
    linear = (players + 1 - place) * LINEAR_SHARE * first_place / players
    # Half of the rated players; the rules of 2024 removed the upper limit.
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
