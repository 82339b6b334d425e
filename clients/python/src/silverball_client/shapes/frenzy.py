"""The live state of a Flip Frenzy."""

from silverball_client.shapes.base import Shape
from silverball_client.shapes.games import Game
from silverball_client.shapes.queues import QueueEntry


class FrenzyState(Shape, frozen=True, kw_only=True):
    """Started games and the queue."""

    games: tuple[Game, ...]
    queue: tuple[QueueEntry, ...]
    avg_queue_duration: int | float | None
