"""Shapes of nights before they are played: rounds, turns or a clock.

A format answers with the shape of its night (`Format.planning`); `simulation` plays the shape in minutes.
"""

from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from typing import Any, TypeAlias

import msgspec
from msgspec import Struct

from silverball.rules.model.settings import TournamentSettings

# Group size -> awards (strikes, points) of first, second, ...
Awards: TypeAlias = Mapping[int, Sequence[float]]


class SetRounds(Struct, frozen=True, kw_only=True):
    """Rounds that are known ahead. A round ends with its last game, and then the next one begins."""

    # The sizes of the groups of each round; byes are left out.
    rounds: tuple[tuple[int, ...], ...]
    # Games that a group plays in a round, one after the other.
    games: int = 1
    # Whether a group stops as soon as one player has won more than half of them.
    is_best_of: bool = False
    # Machines that a round is played on at most; None for all there are.
    machines_max: int | None = None


class RoundsUntilOut(Struct, frozen=True, kw_only=True):
    """Drawn rounds until at most one player is left."""

    # Whether rounds are drawn in pairs, else in groups of four and three.
    is_in_pairs: bool
    awards: Awards
    # (totals as an array, rounds completed) -> who plays no more, as an array of the same shape.
    leaves: Callable[[Any, int], Any]
    games: int = 1


class FreeTurns(Struct, frozen=True, kw_only=True):
    """The same number of games for each player, whenever players and machines are free."""

    turns: int
    # Players in a game.
    size: int = 1
    # Games running at once at most; None for no limit.
    at_once: int | None = None


class ClockNight(Struct, frozen=True, kw_only=True):
    """Games until a clock runs out; those that run then are finished."""

    minutes: int
    size: int = 2


class OpenEnd(Struct, frozen=True):
    """A night without an end of its own; the sentence says why."""

    reason: str


class DoesNotFit(ValueError):
    """A format that cannot be played by so many players, with a sentence."""


NightShape: TypeAlias = SetRounds | RoundsUntilOut | FreeTurns | ClockNight | OpenEnd
ShapeOf: TypeAlias = Callable[[TournamentSettings, int], NightShape]


class CertainBy(Enum):
    """The way in which a running night of a format can be decided before its end."""

    # Nothing is certain before the organizer closes it.
    NOTHING = "nothing"
    # Points of drawn rounds, of which the number is planned.
    ROUNDS = "rounds"
    # Points of games that are all there from the start.
    GAMES = "games"
    # Points of the same number of games for each player.
    TURNS = "turns"
    # Players go out one after the other, and whoever goes out later is better.
    ELIMINATION = "elimination"


def no_settings(_players: int) -> Mapping[str, Any]:
    """The settings that follow from the number of players, in most formats."""
    return {}


def unknown_night(_settings: TournamentSettings, _players: int) -> NightShape:
    """The night of a format that does not say what it consists of."""
    return OpenEnd("This format does not say how long it is.")


class NightPlanning(Struct, frozen=True, kw_only=True):
    """How a night of a format is planned."""

    # (settings, players) -> the shape. Raises DoesNotFit.
    shape: ShapeOf = unknown_night
    # The settings that a plan compares, by wire key; the first key of each is the one that is named.
    choices: tuple[Mapping[str, Any], ...] = msgspec.field(default=({},))
    # Players -> the settings that follow from their number, by wire key; they join every choice.
    fitted: Callable[[int], Mapping[str, Any]] = no_settings
    # What the first key counts: rounds, strikes, holes.
    unit: str = ""
    # How a running night can be decided before its end.
    certain_by: CertainBy = CertainBy.NOTHING


UNPLANNED = NightPlanning()


def values_of(key: str, *values: int | str) -> tuple[Mapping[str, Any], ...]:
    """Choices that differ in one setting."""
    return tuple({key: value} for value in values)
