"""The grade of an event (TGP): meaningful games in percent of a full tournament. Source: ratings, B.3.

It is a suggestion: the organizer decides and stores a whole number of percent.
"""

from fractions import Fraction
from math import floor
from typing import Literal

from msgspec import Struct

# Play without fixed games: the attempts are limited (in hybrid play and on limited cards) or not.
OpenPlay = Literal["unlimited_best_game", "hybrid_best_game", "unlimited_card", "limited_card"]

PERCENT_PER_GAME = 4
PERCENT_MAX = 100
PERCENT_MAX_WITH_FINALS = 200
HOURS_PERCENT_MAX = 20
# Below this number of hours, open play has no factor.
FACTOR_FROM_HOURS = 20
FINALISTS_LAST_MAX = 4
FINALISTS_SHARE = (Fraction(1, 10), Fraction(1, 2))
OPEN_PLAY_FACTORS: dict[OpenPlay, int] = {
    "unlimited_best_game": 2,
    "hybrid_best_game": 3,
    "unlimited_card": 4,
    "limited_card": 1,
}
UNLIMITED_PLAY = frozenset({"unlimited_best_game", "unlimited_card"})
# A game of three or more balls is a full game.
GAME_SHARE_BY_BALLS = {1: Fraction(1, 3), 2: Fraction(2, 3)}


class Stage(Struct, frozen=True, kw_only=True):
    """A part of an event that is played in one style."""

    # Meaningful games of a player who plays the whole part, weighted by the sizes of the groups.
    games: Fraction | int
    balls: int = 3
    # Hours during which entries of unlimited number could be bought; 0 elsewhere.
    hours: int = 0

    def __post_init__(self) -> None:
        if self.games < 0 or self.balls < 1 or self.hours < 0:
            raise ValueError("a stage has no negative games or hours, and at least one ball")

    @property
    def full_games(self) -> Fraction:
        """The games, of which those with one and two balls count a third and two thirds."""
        return self.games * GAME_SHARE_BY_BALLS.get(self.balls, Fraction(1))

    @property
    def percent(self) -> Fraction:
        """The percent of this part, without a limit but that of the hours."""
        return self.full_games * PERCENT_PER_GAME + min(HOURS_PERCENT_MAX, self.hours)


class Finals(Struct, frozen=True, kw_only=True):
    """A separate stage for the best players of the qualifying."""

    stage: Stage
    # Players in the qualifying, in the finals, and in the last games of the finals.
    qualifying_players: int
    finalist_count: int
    last_players: int

    @property
    def is_half_gone(self) -> bool:
        """Whether the qualifying counts: at most half of its field goes on."""
        return self.finalist_count * 2 <= self.qualifying_players

    @property
    def can_exceed_limit(self) -> bool:
        """Whether the finals are selective enough for a grade above 100 %."""
        least, most = FINALISTS_SHARE
        is_share = least * self.qualifying_players <= self.finalist_count <= most * self.qualifying_players
        return is_share and self.last_players <= FINALISTS_LAST_MAX


class Grade(Struct, frozen=True, kw_only=True):
    """The grade of an event."""

    # Meaningful games of the stages that count, by their balls.
    games: Fraction
    percent: int
    # Whether the games would be worth more than the limit.
    is_capped: bool
    percent_max: int


def grade_event(qualifying: Stage | None, finals: Finals | None = None) -> Grade:
    """Return the grade in whole percent, rounded down: at most 100, or 200 with selective separate finals.

    A qualifying that more than half of its field passes does not count.
    """
    counted = [qualifying] if qualifying is not None and (finals is None or finals.is_half_gone) else []
    can_exceed = bool(counted) and finals is not None and finals.can_exceed_limit
    counted += [finals.stage] if finals is not None else []
    percent = sum((stage.percent for stage in counted), Fraction(0))
    percent_max = PERCENT_MAX_WITH_FINALS if can_exceed else PERCENT_MAX
    return Grade(
        games=sum((stage.full_games for stage in counted), Fraction(0)),
        percent=min(percent_max, floor(percent)),
        is_capped=percent > percent_max,
        percent_max=percent_max,
    )


def open_play_factor(play: OpenPlay, *, hours: int) -> int:
    """Return the worth of each game that counts in play without fixed games: 1 below 20 hours."""
    return OPEN_PLAY_FACTORS[play] if hours >= FACTOR_FROM_HOURS else 1


def frenzy_games(average_matches: Fraction | int, *, balls: int = 3) -> Fraction:
    """Meaningful games of a flip frenzy. The balls are counted here, so its stage has three balls."""
    return Fraction(average_matches) / (3 if balls == 1 else 2)


def golf_games(holes: int, *, course_average: Fraction | int) -> Fraction:
    """Meaningful games of a pingolf course: a hole counts as one from an average of three strokes."""
    return holes * min(Fraction(1), Fraction(course_average) / 3)
