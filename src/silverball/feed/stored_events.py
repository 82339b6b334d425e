"""The announcements of the database, read from the event loop.

A few threads of its own do the reading, so that subscribers never wait behind requests to the
interface, nor requests behind subscribers. The node's own reads come first, then those of sockets,
then those over HTTP.
"""

from collections.abc import Awaitable, Callable, Collection, Sequence
from types import MappingProxyType
from typing import Protocol, TypeVar

from silverball.kit.edge.work_queue import WAITING_MAX, Importance, Overloaded, WorkQueue
from silverball.store import announcements
from silverball.store.announcements import Announcement, ChannelHead
from silverball.store.engine import Db, Store
from silverball.store.faults import DatabaseFault

READER_THREADS = 2
# Sockets that resume after a restart come all at once, and their reads are small.
READS_WAITING_MAX = MappingProxyType(
    {**WAITING_MAX, Importance.READER: 5_000, Importance.SCOREKEEPER: 10_000}
)
# The most that one resume sends again.
REPLAYED_EVENTS_MAX = 500
REPLAYED_BYTES_MAX = 1_000_000
# Called before the first subscription of a channel is confirmed: its events are wanted from now on.
OnWatched = Callable[[int], Awaitable[None]]
T = TypeVar("T")


class EventsUnavailable(Exception):
    """The announcements cannot be read now; a later attempt can succeed."""


class EventLog(Protocol):
    """The announcements, as the hub reads them. Both methods can raise EventsUnavailable."""

    async def head(self, tournament_id: int) -> ChannelHead | None:
        """The channel's newest position; None when the tournament does not exist.

        The hub knows what was published to it since, so an answer may be a moment old.
        """

    async def events_between(
        self, tournament_id: int, epoch: str, after: int, until: int, limit: int, bytes_max: int
    ) -> Sequence[Announcement] | None:
        """All of (after, until] in order; None when some were trimmed or a limit is exceeded."""


class StoredEvents:
    """The announcements, as the hub, the relay and the event routes read them."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._threads = WorkQueue(READER_THREADS, "silverball-feed", READS_WAITING_MAX)

    async def head(self, tournament_id: int) -> ChannelHead | None:
        """The channel's newest position; None when the tournament does not exist.

        Raises EventsUnavailable.
        """
        return await self._run_read(
            Importance.READER, lambda db: announcements.channel_head(db, tournament_id)
        )

    async def heads(self, tournament_ids: Collection[int]) -> dict[int, ChannelHead]:
        """The newest positions of the channels that exist. Raises EventsUnavailable."""
        return await self._run_read(
            Importance.SCOREKEEPER, lambda db: announcements.channel_heads_by_id(db, tournament_ids)
        )

    async def events_after(
        self,
        tournament_id: int,
        epoch: str,
        after: int,
        limit: int,
        importance: Importance = Importance.SCOREKEEPER,
    ) -> list[Announcement]:
        """The events that follow number `after`, at most `limit`. Raises EventsUnavailable."""
        return await self._run_read(
            importance, lambda db: announcements.load_since(db, tournament_id, epoch, after, limit)
        )

    async def events_page(
        self, tournament_id: int, after: int, limit: int
    ) -> tuple[ChannelHead | None, list[Announcement]]:
        """The channel's newest position and the events after number `after`, from one moment.

        Raises EventsUnavailable.
        """

        def read(db: Db) -> tuple[ChannelHead | None, list[Announcement]]:
            head = announcements.channel_head(db, tournament_id)
            if head is None:
                return None, []
            return head, announcements.load_since(db, tournament_id, head.epoch, after, limit)

        return await self._run_read(Importance.VISITOR, read)

    async def events_between(
        self, tournament_id: int, epoch: str, after: int, until: int, limit: int, bytes_max: int
    ) -> Sequence[Announcement] | None:
        """All of (after, until] in order; None when some were trimmed or a limit is exceeded.

        Raises EventsUnavailable.
        """
        if until - after > limit:
            return None
        events = await self.events_after(tournament_id, epoch, after, until - after, Importance.READER)
        is_complete = [event.seq for event in events] == list(range(after + 1, until + 1))
        is_small = sum(len(event.data) for event in events) <= bytes_max
        return events if is_complete and is_small else None

    def close(self) -> None:
        """Stop the threads."""
        self._threads.close()

    async def _run_read(self, importance: Importance, read: Callable[[Db], T]) -> T:
        try:
            return await self._threads.submit(importance, self._read_in_thread, read)
        except Overloaded as error:
            raise EventsUnavailable from error

    def _read_in_thread(self, read: Callable[[Db], T]) -> T:
        try:
            with self._store.read() as db:
                return read(db)
        except DatabaseFault as error:
            raise EventsUnavailable from error
