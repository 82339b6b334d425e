"""The part of a format that verification needs: rules of its draws, results and standings.

Format files hand in functions of this room; nothing here knows a format by name.
"""

from collections.abc import Callable
from enum import StrEnum

from msgspec import Struct

from silverball.rules.model.tournament import Tournament
from silverball.rules.verify.rows import Row


class DrawnGroups(StrEnum):
    """The groups that the draw of a round makes."""

    # Any: the organizer or the schedule decides.
    ANY = "any"
    # Pairs, and one bye at most.
    PAIRS = "pairs"
    # Groups of four and three, without byes.
    FOURS = "fours"


class ArenaUse(StrEnum):
    """The use of an arena in a newly drawn round."""

    ANY = "any"
    # One game in each wave of a round.
    ONCE_PER_WAVE = "once per wave"
    # One game in a round, as the next game of the same pair follows on the arena later.
    ONCE_PER_ROUND = "once per round"


class StrikeKind(StrEnum):
    """The kind of strikes that a game gives."""

    NONE = "none"
    # The loser of two gets one.
    PAIRS = "pairs"
    # Each player of a group gets one or none.
    STANDARD = "standard"
    FAIR = "fair"
    PROGRESSIVE = "progressive"


class WinsBy(StrEnum):
    """The rule for wins and losses between players of a game."""

    # Players do not meet each other.
    NONE = "none"
    FINISHING_ORDER = "finishing order"
    POINTS = "points"


def no_strikes(_tournament: Tournament) -> StrikeKind:
    """No strikes, whatever the settings."""
    return StrikeKind.NONE


def wins_by_finishing_order(_tournament: Tournament) -> WinsBy:
    """Wins by finishing order, whatever the settings."""
    return WinsBy.FINISHING_ORDER


def no_wins(_tournament: Tournament) -> WinsBy:
    """No wins and losses, whatever the settings."""
    return WinsBy.NONE


def no_faults(_tournament: Tournament) -> list[str]:
    """No faults: the format has nothing further to check."""
    return []


class FormatChecks(Struct, frozen=True, kw_only=True):
    """The rules that verification checks in tournaments of a format."""

    # The standings, computed independently of the format's `rank`.
    standings: Callable[[Tournament], list[Row]]

    # The standings by the rules of an earlier version, where they have changed: they stay as they are
    # until something happens in the tournament.
    earlier_standings: Callable[[Tournament], list[Row]] | None = None

    # Draws
    drawn_groups: DrawnGroups = DrawnGroups.ANY
    arena_use: ArenaUse = ArenaUse.ANY
    # Whether a player is in one group of a round at most.
    has_one_group_per_round: bool = True
    # Whether a player is in one open game at most.
    has_one_open_game: bool = False

    # Results
    # How often each pairing is played in its round: a bye of the schedule counts as often.
    games_per_pairing: int = 1
    strike_kind: Callable[[Tournament], StrikeKind] = no_strikes
    wins_by: Callable[[Tournament], WinsBy] = wins_by_finishing_order
    # Faults of the results of single player games.
    attempt_faults: Callable[[Tournament], list[str]] = no_faults
    # Faults of the points that single player games get when the tournament completes.
    final_points_faults: Callable[[Tournament], list[str]] = no_faults
