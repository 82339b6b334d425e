"""Which results count for ratings. Source: ratings, section A.4."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal, get_args

from silverball.rules.ranking.regimes import StoredResult, WinLossRule

# Direct play: who meets an opponent on a machine. Everything else is played against the score alone.
CountingFormat = Literal[
    "knockout",
    "group_knockout",
    "matchplay",
    "group_matchplay",
    "max_matchplay",
    "pace_matchplay",
    "manual_matchplay",
    "target",
    "round_robin",
    "double_round_robin",
    "bracket",
    "double_bracket",
    "group_bracket",
    "ladder",
    "frenzy",
    "golf_bracket",
]
COUNTING_FORMATS: frozenset[str] = frozenset(get_args(CountingFormat))
# Its groups play hole by hole, each for himself; the strokes of a round put them in order.
STROKES_FORMAT = "golf_bracket"
SPAN_MAX = timedelta(days=7)
PLAYERS_MIN = 2


@dataclass(frozen=True, slots=True)
class FinishedGame:
    """A game that is over, as it is stored: `result` slot by slot."""

    result: StoredResult
    # First to last, where it is kept beside the result.
    finishing_order: tuple[int, ...] = ()
    is_bye: bool = False
    is_forfeit: bool = False


def is_counting(type_: str, started_at: datetime, completed_at: datetime, *, is_test: bool) -> bool:
    """Whether a completed tournament counts: direct play, no test, at most seven days long."""
    return type_ in COUNTING_FORMATS and not is_test and completed_at - started_at <= SPAN_MAX


def counting_places(rule: WinLossRule, game: FinishedGame) -> dict[int, int]:
    """Player id -> place from 0, equal places for a draw; nothing when the game does not count.

    The order decides where it is known, then the points. Byes, forfeits, games of one and games whose
    result says nothing of somebody do not count.
    """
    player_ids = game.result.player_ids
    if game.is_bye or game.is_forfeit or len(player_ids) < PLAYERS_MIN:
        return {}
    if len(set(player_ids)) == len(player_ids) and set(game.finishing_order) == set(player_ids):
        return {player_id: place for place, player_id in enumerate(game.finishing_order)}
    if rule is WinLossRule.POSITIONS and game.result.is_ordered:
        return {
            player_id: place
            for place, player_id in enumerate(game.result.result_positions)
            if player_id is not None
        }
    points = [None if value is None else float(value) for value in game.result.result_points]
    return places_by_value(player_ids, [-math.inf if value is None else value for value in points])


def places_by_value(player_ids: Sequence[int], values: Sequence[float]) -> dict[int, int]:
    """Player id -> place by his value, more is better; nothing when somebody has none (minus infinity)."""
    if -math.inf in values:
        return {}
    order = {value: place for place, value in enumerate(sorted(set(values), reverse=True))}
    return {player_id: order[value] for player_id, value in zip(player_ids, values, strict=True)}
