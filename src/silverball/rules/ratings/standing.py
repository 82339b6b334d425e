"""Current ratings and their updates. Imports no NumPy, as read-only requests need them too."""

from datetime import date
from typing import NamedTuple

from msgspec import Struct


class CurrentRating(NamedTuple):
    """A current rating: its last change and its total counts."""

    rating_id: int
    rating: float
    rd: float
    # Change in the last period with games; None when the rating came from a file.
    delta: float | None
    first_period: date
    last_period: date
    # None while no games are known.
    games: int | None
    wins: int | None
    losses: int | None
    results: int | None


class RatingUpdate(NamedTuple):
    """The result of a period for a rating."""

    rating_id: int
    rating: float
    rd: float
    delta: float
    games: int
    wins: int
    losses: int
    results: int
    # A flat list: opponent's rating id, wins, losses, draws; then the next opponent.
    meetings: list[int]


class RankedRatings(Struct, frozen=True):
    """All ratings in comparison."""

    # Lower bound, rank (None for hidden players), rating id.
    rows: list[tuple[float, int | None, int]]
    # `p50`, `p75`, `p95`, `p99` of the ratings that are not hidden.
    percentiles: dict[str, float]
