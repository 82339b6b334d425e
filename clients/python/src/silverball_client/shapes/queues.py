"""Queues: entrants waiting for an arena."""

from msgspec import UNSET, UnsetType

from silverball_client.shapes.base import Shape


class QueueEntry(Shape, frozen=True, kw_only=True):
    """A place in a queue."""

    queue_id: int
    tournament_id: int
    arena_id: int | None
    round_id: int | None
    player_id: int
    index: int | None
    created_at: str | None
    completed_at: str | None


class ArenaQueues(Shape, frozen=True, kw_only=True):
    """Queues by arena id; `[]` when all are empty."""

    data: dict[int, tuple[QueueEntry, ...]] | tuple[()]
    busy_elsewhere: tuple[int, ...] | UnsetType = UNSET
