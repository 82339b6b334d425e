"""Current ratings and their updates. Imports no NumPy, as read-only requests need them too."""

import math
from collections.abc import Sequence
from datetime import date, datetime
from typing import NamedTuple

from msgspec import Struct

from silverball.rules.mechanics.plays import SPAN_MAX
from silverball.rules.ranking.standing import StoredResult, WinLossRule


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


# Results that count for ratings. Source: ratings, section A.4.


PLAYERS_MIN = 2
# Strikes say who did better, and nothing of those who have equally many.
STRIKE_RULES = frozenset((WinLossRule.STRIKE, WinLossRule.FAIR_STRIKES))


class FinishedGame(Struct, frozen=True):
    """A completed game as stored: `result` slot by slot."""

    result: StoredResult
    # First to last, where it is stored besides the result.
    finishing_order: tuple[int, ...] = ()
    is_bye: bool = False
    is_forfeit: bool = False


def is_counting(rated: bool, began_at: datetime, ended_at: datetime, *, is_test: bool) -> bool:
    """Whether a completed tournament counts: of a rated format, not a test, at most seven days long.

    Takes the start of its first game and the end of the last one (`plays.play_span`).
    """
    return rated and not is_test and ended_at - began_at <= SPAN_MAX


def counting_places(rule: WinLossRule, game: FinishedGame) -> dict[int, int]:
    """Player id -> place from 0, equal places for a draw; empty when the game does not count.

    The finishing order decides where it is known, else the points. Where strikes may be equal only they
    decide: an order can be stored or not, and the night must rate the same. Equal places are no result
    there (`has_draws`). Byes, forfeits, games of one and games without a result for one of the players do
    not count. Source: formats, section 22.
    """
    player_ids = game.result.player_ids
    if game.is_bye or game.is_forfeit or len(player_ids) < PLAYERS_MIN:
        return {}
    is_ordered = rule not in STRIKE_RULES and len(set(player_ids)) == len(player_ids)
    if is_ordered and set(game.finishing_order) == set(player_ids):
        return {player_id: place for place, player_id in enumerate(game.finishing_order)}
    if rule is WinLossRule.POSITIONS and game.result.is_ordered:
        return {
            player_id: place
            for place, player_id in enumerate(game.result.result_positions)
            if player_id is not None
        }
    points = [None if value is None else float(value) for value in game.result.result_points]
    places = places_by_value(player_ids, [-math.inf if value is None else value for value in points])
    return places if has_draws(rule) or len(set(places.values())) > 1 else {}


def has_draws(rule: WinLossRule) -> bool:
    """Whether equal places of a game are a draw; where strikes are counted they are no result."""
    return rule not in STRIKE_RULES


def places_by_value(player_ids: Sequence[int], values: Sequence[float]) -> dict[int, int]:
    """Player id -> place by value, more is better; empty if a value is missing (minus infinity)."""
    if -math.inf in values:
        return {}
    order = {value: place for place, value in enumerate(sorted(set(values), reverse=True))}
    return {player_id: order[value] for player_id, value in zip(player_ids, values, strict=True)}
