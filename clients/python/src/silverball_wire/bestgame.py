"""The arenas of a best game tournament, with games and queues."""

from silverball_wire.arenas import Arena
from silverball_wire.base import Wire
from silverball_wire.queues import QueueEntry
from silverball_wire.singleplayer import SinglePlayerGame
from silverball_wire.values import Number


class BestGameSummaryRow(Wire, frozen=True, kw_only=True):
    """An arena with its queue and best score. Source: samples/bgsummary.json."""

    arena_id: int
    game_queue: tuple[QueueEntry, ...]
    """Places in the queue of the arena, the next player first."""
    game_duration: Number | None
    """Length of a game in seconds, on average; null before the first one."""
    best_score: int | None
    """Highest score on the arena; null before the first one."""
    highlighted_score: int | None
    """Score to beat for the last place that counts; null here."""


class BestGameDetails(Wire, frozen=True, kw_only=True):
    """An arena with its games and its queue. Source: wire.yaml BestGameDetails."""

    arena: Arena
    """The arena."""
    voided_game_count: int
    """Number of voided games on the arena."""
    single_player_games: tuple[SinglePlayerGame, ...]
    queue: tuple[QueueEntry, ...]
