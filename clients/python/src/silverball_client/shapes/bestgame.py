"""The arenas of a best game tournament, with games and queues."""

from silverball_client.shapes.arenas import Arena
from silverball_client.shapes.base import Shape
from silverball_client.shapes.queues import QueueEntry
from silverball_client.shapes.singleplayer import SinglePlayerGame


class BestGameSummaryRow(Shape, frozen=True, kw_only=True):
    """An arena with its queue and best score."""

    arena_id: int
    game_queue: tuple[QueueEntry, ...]
    game_duration: int | float | None
    best_score: int | None
    highlighted_score: int | None


class BestGameDetails(Shape, frozen=True, kw_only=True):
    """An arena with its games and its queue."""

    arena: Arena
    voided_game_count: int
    single_player_games: tuple[SinglePlayerGame, ...]
    queue: tuple[QueueEntry, ...]
