"""Shapes of what keeps a night on time: the round timer, and calls of players."""

from silverball_wire.base import UNSET, Instant, UnsetType, Wire


class CalledGame(Wire, frozen=True, kw_only=True):
    """An open game whose players were called to their machine."""

    game_id: int
    called_at: Instant
    """Time of the last call."""


class ExtendedGame(Wire, frozen=True, kw_only=True):
    """An open game that was given extra time."""

    game_id: int
    ends_at: Instant
    """Time at which this game runs out, after its round."""


class RoundTimer(Wire, frozen=True, kw_only=True):
    """The round timer, and the open games whose players were called. Ours, no source."""

    minutes: int | None
    """Minutes that a round may take; null without a timer."""
    round_id: int | None
    """Id of the open round that is timed; null when none is."""
    ends_at: Instant | None
    """Time at which the open round runs out; null when none is timed."""
    called_games: tuple[CalledGame, ...]
    """Open games whose players were called, by id."""
    extended_games: tuple[ExtendedGame, ...] | UnsetType = UNSET
    """Open games with extra time, by id; absent without any."""
