"""The live state of a max match play."""

from silverball_wire.base import Wire
from silverball_wire.games import Game
from silverball_wire.values import Number


class MaxMatchplayPlayer(Wire, frozen=True, kw_only=True):
    """A player's opponents and arenas so far. Source: samples/max-matchplay.json."""

    player_id: int
    game_count: int
    """Number of games played."""
    completed_time: int | None
    """When the last required game ended, in seconds since 1970; null before that."""
    arena_counts: dict[int, int]
    opponent_counts: dict[int, int]
    all_opponents: tuple[int, ...]
    """Ids of the opponents in the order of play."""


class MaxMatchplayState(Wire, frozen=True, kw_only=True):
    """Started games, players and games left to play. Source: samples/max-matchplay.json."""

    games: tuple[Game, ...]
    """Started games."""
    players: tuple[MaxMatchplayPlayer, ...]
    """The players, with what they have played so far."""
    remaining_games: int
    """Number of games that are left to play."""
    avg_game_duration: Number | None
    """Length of a game in seconds, on average; null before the first one."""
