"""Queues: entrants waiting for an arena."""

from silverball.wire.base import Wire
from silverball.wire.values import EmptyList


class QueueEntry(Wire, frozen=True, kw_only=True):
    """A place in a queue. Source: wire.yaml QueueEntry, formats 18."""

    queue_id: int
    tournament_id: int
    arena_id: int | None
    round_id: int | None
    player_id: int
    # From 0, which is next to play.
    index: int | None
    created_at: str | None
    completed_at: str | None


EntriesByArena = dict[int, tuple[QueueEntry, ...]]


class ArenaQueues(Wire, frozen=True, kw_only=True):
    """Queues by arena id; `[]` when all are empty. Source: samples/queues.json."""

    data: EntriesByArena | EmptyList
