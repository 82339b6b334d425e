"""What the hub asks of whoever keeps the announcements."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Protocol

from silverball.store.announcements import Announcement, ChannelHead

REPLAYED_EVENTS_MAX = 500
REPLAYED_BYTES_MAX = 1_000_000
# Told before the first subscription of a channel is confirmed: from now on its events are wanted.
OnWatched = Callable[[int], Awaitable[None]]


class EventsUnavailable(Exception):
    """The announcements cannot be read now; trying again later helps."""


class EventLog(Protocol):
    """The announcements. Both raise Unavailable when they cannot be read."""

    async def head(self, tournament_id: int) -> ChannelHead | None:
        """Where the channel stands; None when there is no such tournament.

        An answer that is a moment old does no harm: the hub knows what was published to it since.
        """

    async def events_between(
        self, tournament_id: int, epoch: str, after: int, until: int, limit: int, bytes_max: int
    ) -> Sequence[Announcement] | None:
        """All of (after, until] in order; None when that cannot be told: trimmed, or beyond a limit."""
