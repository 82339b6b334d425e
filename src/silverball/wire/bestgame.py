"""The arenas of a best game tournament, with games and queues."""

from silverball.wire.arenas import Arena
from silverball.wire.base import Wire
from silverball.wire.queues import QueueEntry
from silverball.wire.singleplayer import SinglePlayerGame
from silverball.wire.values import Number


class BestGameSummaryRow(Wire, frozen=True, kw_only=True):
    """An arena with its queue and best score. Source: samples/bgsummary.json."""

    arena_id: int
    game_queue: tuple[QueueEntry, ...]
    # Seconds, on average.
    game_duration: Number | None
    best_score: int | None
    highlighted_score: int | None


class BestGameDetails(Wire, frozen=True, kw_only=True):
    """An arena with its games and its queue. Source: wire.yaml BestGameDetails."""

    arena: Arena
    voided_game_count: int
    single_player_games: tuple[SinglePlayerGame, ...]
    queue: tuple[QueueEntry, ...]
