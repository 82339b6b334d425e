"""Ratings after a day, computed again result by result. Source: ratings, A.1 and A.4."""

import math
from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import date
from typing import Any

from msgspec import Struct

from silverball.rules.ratings.formulas import Parameters
from silverball.rules.ratings.seats import RatingDay

# Ratings are computed with floating point, in another order of the sums.
TOLERANCE = 1e-9
DECIMALS = 4


class RatingBefore(Struct, frozen=True):
    """A rating as of the last day on which its person played."""

    rating: float
    rd: float
    day: date


class ExpectedRevision(Struct, frozen=True):
    """A person's rating after a day, with the counts of the day, by the names of the columns."""

    rating: float
    rd: float
    delta: float
    game_count: int
    win_count: int
    loss_count: int
    result_count: int
    # Opponent -> wins, losses, draws.
    meetings: Mapping[int, tuple[int, int, int]]


class _Result(Struct, frozen=True):
    """A result between two players of a game, as the first one sees it."""

    player: int
    opponent: int
    score: float
    players: int


def expected_revisions(
    before: Mapping[int, RatingBefore], day: RatingDay, parameters: Parameters
) -> dict[int, ExpectedRevision]:
    """Rating id -> revision, of everybody who played on this day. All start from the ratings before it."""
    at_start = {
        player: _at_start_of_day(before.get(player), day.day, parameters) for player in set(day.players)
    }
    results: dict[int, list[_Result]] = {player: [] for player in at_start}
    for result in _results(day):
        results[result.player].append(result)
    games = Counter(day.players)
    return {
        player: _revision(player, at_start, results[player], games[player], parameters) for player in at_start
    }


def _at_start_of_day(rated: RatingBefore | None, day: date, parameters: Parameters) -> tuple[float, float]:
    """Rating and deviation when the day begins: the deviation grows every day without play."""
    if rated is None:
        return parameters.rating_default, min(parameters.rd_default, parameters.rd_max)
    return rated.rating, grown_deviation(rated.rd, (day - rated.day).days, parameters)


def grown_deviation(rd: float, days: int, parameters: Parameters) -> float:
    """The deviation some days after the last play."""
    return min(math.sqrt(rd**2 + max(days, 0) * parameters.c**2), parameters.rd_max)


def _results(day: RatingDay) -> Iterator[_Result]:
    """Each result of two players of a game, once from either side; equal places may be none."""
    start = 0
    for seats, played, has_draws in zip(day.seat_counts, day.played_counts, day.has_draws, strict=True):
        places = list(zip(day.players[start : start + seats], day.places[start : start + seats], strict=True))
        start += seats
        for player, place in places:
            for opponent, other_place in places:
                if opponent != player and (place != other_place or has_draws):
                    score = 0.5 if place == other_place else float(place < other_place)
                    yield _Result(player, opponent, score, played)


def _revision(
    player: int,
    at_start: Mapping[int, tuple[float, float]],
    results: list[_Result],
    games: int,
    parameters: Parameters,
) -> ExpectedRevision:
    rating, rd = at_start[player]
    q = math.log(10) / 400
    gain = information = 0.0
    meetings: dict[int, list[int]] = {}
    for result in results:
        opponent_rating, opponent_rd = at_start[result.opponent]
        weight = 1 / math.sqrt(1 + 3 * (q * opponent_rd / math.pi) ** 2)
        expected = 1 / (1 + 10 ** (weight * (opponent_rating - rating) / 400))
        if parameters.is_expected_rounded:
            expected = math.floor(expected * 10**DECIMALS + 0.5) / 10**DECIMALS
        divisor = math.sqrt(result.players - 1) if result.players > 2 else 1.0
        gain += weight * (result.score - expected) / divisor
        information += weight**2 * expected * (1 - expected) / divisor
        counts = meetings.setdefault(result.opponent, [0, 0, 0])
        counts[{1.0: 0, 0.0: 1}.get(result.score, 2)] += 1
    rd_after = rd
    if information:
        exact = 1 / math.sqrt(1 / rd**2 + q**2 * information)
        rd_after = min(max(exact, parameters.rd_min), parameters.rd_max)
    rating_after = rating + q * rd_after**2 * gain
    won, lost, drawn = (sum(counts[at] for counts in meetings.values()) for at in range(3))
    return ExpectedRevision(
        rating=rating_after,
        rd=rd_after,
        delta=rating_after - rating,
        game_count=games,
        win_count=won,
        loss_count=lost,
        result_count=won + lost + drawn,
        meetings={opponent: (counts[0], counts[1], counts[2]) for opponent, counts in meetings.items()},
    )


def differences(stored: Mapping[Any, Any], expected: ExpectedRevision) -> list[str]:
    """The columns of a stored revision that differ, each with both values."""
    found = []
    for name in ("rating", "rd", "delta"):
        value, wanted = stored[name], getattr(expected, name)
        if value is None or not abs(value - wanted) <= TOLERANCE:
            found.append(f"{name} is {value}, it should be {wanted}")
    for name in ("game_count", "win_count", "loss_count", "result_count"):
        value, wanted = stored[name], getattr(expected, name)
        if value != wanted:
            found.append(f"{name} is {value}, it should be {wanted}")
    if _meetings_of(stored["meetings"]) != dict(expected.meetings):
        found.append("its meetings are others")
    return found


def _meetings_of(flat: Any) -> dict[int, tuple[int, int, int]] | None:
    """Opponent -> wins, losses, draws, of a stored list; None for no such list."""
    if not isinstance(flat, list) or len(flat) % 4 or not all(isinstance(each, int) for each in flat):
        return None
    return {flat[at]: (flat[at + 1], flat[at + 2], flat[at + 3]) for at in range(0, len(flat), 4)}
