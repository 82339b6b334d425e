"""Queues: entrants waiting for an arena."""

from silverball_wire.base import UNSET, Instant, UnsetType, Wire
from silverball_wire.values import EmptyList


class QueueEntry(Wire, frozen=True, kw_only=True):
    """A place in a queue. Source: wire.yaml QueueEntry, formats 18."""

    queue_id: int
    tournament_id: int
    arena_id: int | None
    """Id of the arena waited for; null in a queue for any arena."""
    round_id: int | None
    """Id of the round waited in; null outside of an amazing race."""
    player_id: int
    index: int | None
    """Position in the queue, from 0, which is next; null when the game has started."""
    created_at: Instant | None
    completed_at: Instant | None


EntriesByArena = dict[int, tuple[QueueEntry, ...]]


class ArenaQueues(Wire, frozen=True, kw_only=True):
    """Queues by arena id; `[]` when all are empty. Source: samples/queues.json."""

    data: EntriesByArena | EmptyList
    """Places in the queues, by arena id; `[]` when all are empty."""
    busy_elsewhere: tuple[int, ...] | UnsetType = UNSET
    """Ids of waiting players who are busy in another tournament of the event: they keep their places, and the
    first who is not busy is up. Absent when there are none."""
