"""The value of a tournament, which is the winner's points, from its players. Source: ratings, B.1 and B.2.

Existing clients compare these numbers to the last bit. So they are plain doubles, formulas keep their
order of operations, and sums are added term by term from the first row to the last.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Literal

from msgspec import Struct

Booster = Literal["none", "certified", "certified_plus", "championship_series", "major"]

BASE_EACH = 0.5
# A player's first events add nothing to the base.
RATED_FROM_EVENTS = 5
# The number of best players that count, in each list by its own order.
COUNTED_MAX = 64
BASE_MAX = 32.0
RATING_MAX = 25.0
RANKING_MAX = 50.0
TGP_PERCENT_MAX = 200
BOOSTERS: dict[Booster, float] = {
    "none": 1.0,
    "certified": 1.25,
    "certified_plus": 1.5,
    "championship_series": 1.5,
    "major": 2.0,
}


class FieldPlayer(Struct, frozen=True, kw_only=True):
    """The federation's records of a player; None where they have no value."""

    ifpa_id: int
    rank: int | None
    womens_rank: int | None
    rating: float | None
    total_events: int | None

    @property
    def is_rated(self) -> bool:
        """Whether the player adds to the open value."""
        return (self.total_events or 0) >= RATED_FROM_EVENTS


class PlayerWorth(Struct, frozen=True, kw_only=True):
    """The contribution of a player. `..._included`: whether the player is among the best that count."""

    ifpa_id: int
    base: float
    womens_base: float
    rating: float
    rating_included: bool
    ranking: float
    ranking_included: bool
    womens_ranking: float
    womens_ranking_included: bool

    @property
    def total(self) -> float:
        """The player's contribution to the open value."""
        rating = self.rating if self.rating_included else 0.0
        return sum_in_order((self.base, rating, self.ranking if self.ranking_included else 0.0))

    @property
    def womens_total(self) -> float:
        """The player's contribution to the women's value."""
        rating = self.rating if self.rating_included else 0.0
        return sum_in_order(
            (self.womens_base, rating, self.womens_ranking if self.womens_ranking_included else 0.0)
        )


class Estimate(Struct, frozen=True, kw_only=True):
    """The value at 100 % TGP without a booster, and the contribution of each player."""

    players: tuple[PlayerWorth, ...]
    base: float
    womens_base: float
    rating: float
    ranking: float
    womens_ranking: float

    @property
    def total(self) -> float:
        return sum_in_order((self.base, self.rating, self.ranking))

    @property
    def womens_total(self) -> float:
        return sum_in_order((self.womens_base, self.rating, self.womens_ranking))


def rating_value(rating: float | None) -> float:
    """The contribution of a player's federation rating; 0 up to 1285.71."""
    if rating is None:
        return 0.0
    return max(0.0, rating * 0.000546875 - 0.703125)


def ranking_value(rank: int | None) -> float:
    """The contribution of a player's rank: 1.459827968 for the first, 0 from the 989th on."""
    if rank is None:
        return 0.0
    return max(0.0, math.log(rank) * -0.211675054 + 1.459827968)


def estimate_value(field: Iterable[FieldPlayer]) -> Estimate:
    """The value of these players; the rows are ordered by rank (none last), then by federation id.

    Unrated players only add to the women's base and ranking, and are not among the best of the open lists.
    """
    rows = sorted(field, key=lambda player: (player.rank is None, player.rank or 0, player.ifpa_id))
    rated = [player for player in rows if player.is_rated]
    by_rating = _best_ids(rated, lambda player: -player.rating if player.rating is not None else None)
    by_rank = _best_ids(rated, lambda player: player.rank)
    by_womens_rank = _best_ids(rows, lambda player: player.womens_rank)
    worths = tuple(
        PlayerWorth(
            ifpa_id=player.ifpa_id,
            base=BASE_EACH if player.is_rated else 0.0,
            womens_base=BASE_EACH,
            rating=rating_value(player.rating) if player.is_rated else 0.0,
            rating_included=player.ifpa_id in by_rating,
            ranking=ranking_value(player.rank) if player.is_rated else 0.0,
            ranking_included=player.ifpa_id in by_rank,
            womens_ranking=ranking_value(player.womens_rank),
            womens_ranking_included=player.ifpa_id in by_womens_rank,
        )
        for player in rows
    )
    return _total_estimate(worths)


def value_of_rated(players: int) -> float:
    """The base of so many players who are all rated: the value of a field of which no more is known."""
    return min(BASE_MAX, players * BASE_EACH)


def winner_points(total: float, *, tgp_percent: int, booster: Booster = "none") -> float:
    """The winner's points: the value of the players times the grade of the format and the booster.

    Raises ValueError when the grade is not between 0 and 200 percent.
    """
    if not 0 <= tgp_percent <= TGP_PERCENT_MAX:
        raise ValueError(f"a grade of {tgp_percent} % is not between 0 and {TGP_PERCENT_MAX}")
    return total * tgp_percent / 100 * BOOSTERS[booster]


def sum_in_order(terms: Iterable[float]) -> float:
    """The terms added one after the other; `sum` of newer Pythons compensates and yields other bits."""
    total = 0.0
    for term in terms:
        total += term
    return total


def _best_ids(rows: Sequence[FieldPlayer], key: Callable[[FieldPlayer], float | None]) -> frozenset[int]:
    """Ids of the players that count: lowest key first, no key last, equals in the order of the rows."""

    def at(player: FieldPlayer) -> tuple[bool, float]:
        value = key(player)
        return (value is None, value or 0.0)

    return frozenset(player.ifpa_id for player in sorted(rows, key=at)[:COUNTED_MAX])


def _total_estimate(worths: tuple[PlayerWorth, ...]) -> Estimate:
    return Estimate(
        players=worths,
        base=min(BASE_MAX, sum_in_order(worth.base for worth in worths)),
        womens_base=min(BASE_MAX, sum_in_order(worth.womens_base for worth in worths)),
        rating=min(RATING_MAX, sum_in_order(worth.rating for worth in worths if worth.rating_included)),
        ranking=min(RANKING_MAX, sum_in_order(worth.ranking for worth in worths if worth.ranking_included)),
        womens_ranking=min(
            RANKING_MAX,
            sum_in_order(worth.womens_ranking for worth in worths if worth.womens_ranking_included),
        ),
    )


# Distribution of a tournament's points over its places. Source: ratings, B.4.


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
