"""The live state of a max match play."""

from silverball_client.shapes.base import Shape
from silverball_client.shapes.games import Game


class MaxMatchplayPlayer(Shape, frozen=True, kw_only=True):
    """A player's opponents and arenas so far."""

    player_id: int
    game_count: int
    completed_time: int | None
    arena_counts: dict[int, int]
    opponent_counts: dict[int, int]
    all_opponents: tuple[int, ...]


class MaxMatchplayState(Shape, frozen=True, kw_only=True):
    """Started games, players and games left to play."""

    games: tuple[Game, ...]
    players: tuple[MaxMatchplayPlayer, ...]
    remaining_games: int
    avg_game_duration: int | float | None
