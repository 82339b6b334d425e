"""The grade of a format (TGP): meaningful games in percent of a full tournament. Source: ratings, B.3.

It is a suggestion: the organizer decides and stores a whole number of percent.
"""

from dataclasses import dataclass
from fractions import Fraction
from math import floor
from typing import Literal

PlayStyle = Literal[
    "single",
    "groups_of_three",
    "groups_of_four",
    # Several games per round: the size of the groups adds nothing.
    "multi_matchplay",
    "unlimited_best_game",
    "hybrid_best_game",
    "unlimited_card",
]

PERCENT_PER_GAME = 4
PERCENT_MAX = 100
PERCENT_MAX_WITH_FINALS = 200
HOURS_PERCENT_MAX = 20
# Below this number of hours, unlimited play has no multiplier.
UNLIMITED_FROM_HOURS = 20
FINALISTS_LAST_MAX = 4
FINALISTS_SHARE = (Fraction(1, 10), Fraction(1, 2))
MULTIPLIERS: dict[PlayStyle, Fraction] = {
    "single": Fraction(1),
    "groups_of_three": Fraction(3, 2),
    "groups_of_four": Fraction(2),
    "multi_matchplay": Fraction(1),
    "unlimited_best_game": Fraction(2),
    "hybrid_best_game": Fraction(3),
    "unlimited_card": Fraction(4),
}
UNLIMITED_PLAY = frozenset({"unlimited_best_game", "unlimited_card"})
# A game of three or more balls is a full game.
GAME_SHARE_BY_BALLS = {1: Fraction(33, 100), 2: Fraction(66, 100)}


@dataclass(frozen=True, kw_only=True)
class Stage:
    """A part of a tournament that is played in one style."""

    # Meaningful games of a player who plays the whole part.
    games: Fraction | int
    play: PlayStyle = "single"
    balls: int = 3
    # Hours during which entries could be bought; 0 where the number of games is fixed.
    hours: int = 0

    def __post_init__(self) -> None:
        if self.games < 0 or self.balls < 1 or self.hours < 0:
            raise ValueError("a stage has no negative games or hours, and at least one ball")


@dataclass(frozen=True, kw_only=True)
class Finals:
    """A separate stage for the best players of the qualifying."""

    stage: Stage
    # Players in the qualifying, in the finals, and in the last games of the finals.
    qualifying_players: int
    finalist_count: int
    last_players: int

    @property
    def can_exceed_limit(self) -> bool:
        """Whether the finals are selective enough for a grade above 100 %."""
        least, most = FINALISTS_SHARE
        is_share = least * self.qualifying_players <= self.finalist_count <= most * self.qualifying_players
        return is_share and self.last_players <= FINALISTS_LAST_MAX


def tgp_percent(qualifying: Stage | None, finals: Finals | None = None) -> int:
    """The grade in whole percent, rounded down: at most 100, or 200 with selective separate finals."""
    played = Fraction(0)
    if qualifying is not None:
        played += _stage_percent(qualifying)
    if finals is not None:
        played += _stage_percent(finals.stage)
    has_both = qualifying is not None and finals is not None and finals.can_exceed_limit
    return min(PERCENT_MAX_WITH_FINALS if has_both else PERCENT_MAX, floor(played))


def frenzy_games(average_matches: Fraction | int, *, balls: int = 3) -> Fraction:
    """Meaningful games of a flip frenzy. The balls are counted here, so its stage has three balls."""
    return Fraction(average_matches) / (3 if balls == 1 else 2)


def golf_games(holes: int, *, course_average: Fraction | int) -> Fraction:
    """Meaningful games of a pingolf course: a hole counts as one from an average of three strokes."""
    return holes * min(Fraction(1), Fraction(course_average) / 3)


def _stage_percent(stage: Stage) -> Fraction:
    is_short = stage.play in UNLIMITED_PLAY and stage.hours < UNLIMITED_FROM_HOURS
    multiplier = Fraction(1) if is_short else MULTIPLIERS[stage.play]
    share = GAME_SHARE_BY_BALLS.get(stage.balls, Fraction(1))
    return stage.games * PERCENT_PER_GAME * multiplier * share + min(HOURS_PERCENT_MAX, stage.hours)
