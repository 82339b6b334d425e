"""Shapes of what keeps a night on time: the round timer, and calls of players."""

from msgspec import UNSET, UnsetType

from silverball_client.shapes.base import Shape


class CalledGame(Shape, frozen=True, kw_only=True):
    """An open game whose players were called to their machine."""

    game_id: int
    called_at: str


class ExtendedGame(Shape, frozen=True, kw_only=True):
    """An open game that was given extra time."""

    game_id: int
    ends_at: str


class RoundTimer(Shape, frozen=True, kw_only=True):
    """The round timer, and the open games whose players were called. Ours, no source."""

    minutes: int | None
    round_id: int | None
    ends_at: str | None
    called_games: tuple[CalledGame, ...]
    extended_games: tuple[ExtendedGame, ...] | UnsetType = UNSET
