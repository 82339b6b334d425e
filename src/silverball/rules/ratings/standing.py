"""A rating as it stands, and what a period makes of it. Imports no NumPy, as readers need it too."""

from dataclasses import dataclass
from datetime import date
from typing import NamedTuple


class CurrentRating(NamedTuple):
    """A rating as it stands: what happened last, and what was counted in all."""

    rating_id: int
    rating: float
    rd: float
    # Change of the last period that was played; None when the rating came from a file.
    delta: float | None
    first_period: date
    last_period: date
    # None while nothing is known to have been played.
    games: int | None
    wins: int | None
    losses: int | None
    results: int | None


class RatingUpdate(NamedTuple):
    """What a period made of a rating."""

    rating_id: int
    rating: float
    rd: float
    delta: float
    games: int
    wins: int
    losses: int
    results: int
    # Opponent's rating id, wins, losses, draws; and the next opponent.
    meetings: list[int]


@dataclass(frozen=True)
class RankedRatings:
    """How everybody stands against everybody else."""

    # Lower bound, rank (None for who is hidden), rating id.
    rows: list[tuple[float, int | None, int]]
    # `p50`, `p75`, `p95`, `p99` of the ratings that are shown.
    percentiles: dict[str, float]
