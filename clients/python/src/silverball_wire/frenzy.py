"""The live state of a Flip Frenzy."""

from silverball_wire.base import Wire
from silverball_wire.games import Game
from silverball_wire.queues import QueueEntry
from silverball_wire.values import Number


class FrenzyState(Wire, frozen=True, kw_only=True):
    """Started games and the queue. Source: samples/frenzy.json."""

    games: tuple[Game, ...]
    """Started games."""
    queue: tuple[QueueEntry, ...]
    avg_queue_duration: Number | None
    """Seconds in the queue, on average; null before anybody left it."""
