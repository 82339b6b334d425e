"""The announcements of the database, read from the event loop.

A few threads of its own do the reading, so that subscribers never wait behind requests to the
interface, nor requests behind subscribers. The node's own reads come first, then those of sockets,
then those over HTTP.
"""

from collections.abc import Callable, Collection, Sequence
from types import MappingProxyType
from typing import Protocol, TypeVar

from silverball.kit.edge.work_queue import WAITING_MAX, Importance, Overloaded, WorkQueue
from silverball.store.database.engine import Db, Store
from silverball.store.database.faults import DatabaseFault
from silverball.store.revisions import stamps
from silverball.store.tournament import announcements
from silverball.store.tournament.announcements import Announcement, ChannelHead

READER_THREADS = 2
# Sockets that resume after a restart come all at once, and their reads are small.
READS_WAITING_MAX = MappingProxyType(
    {**WAITING_MAX, Importance.READER: 5_000, Importance.SCOREKEEPER: 10_000}
)
# The most that one resume sends again.
REPLAYED_EVENTS_MAX = 500
REPLAYED_BYTES_MAX = 1_000_000
T = TypeVar("T")


class EventsUnavailable(Exception):
    """The announcements cannot be read now; a later attempt can succeed."""


class EventLog(Protocol):
    """The announcements, as the hub reads them. Both methods can raise EventsUnavailable."""

    async def head(self, tournament_id: int) -> ChannelHead | None:
        """The channel's newest position; None when the tournament does not exist."""

    async def events_page(
        self, tournament_id: int, after: int, limit: int, /
    ) -> tuple[ChannelHead | None, Sequence[Announcement]]:
        """The channel's newest position and the events after number `after`, from one moment."""


class StoredEvents:
    """The announcements, as the hub, the relay and the event routes read them.

    Epochs are those that clients see: the channel's own and the generation of the database.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._threads = WorkQueue(READER_THREADS, "silverball-feed", READS_WAITING_MAX)

    async def head(self, tournament_id: int) -> ChannelHead | None:
        """The channel's newest position; None when the tournament does not exist.

        Raises EventsUnavailable.
        """
        return (await self.events_page(tournament_id, 0, 0))[0]

    async def heads(self, tournament_ids: Collection[int]) -> dict[int, ChannelHead]:
        """The newest positions of the channels that exist. Raises EventsUnavailable."""
        return await self._run_read(
            Importance.SCOREKEEPER, lambda db: announcements.public_heads_by_id(db, tournament_ids)
        )

    async def events_page(
        self, tournament_id: int, after: int, limit: int, importance: Importance = Importance.READER
    ) -> tuple[ChannelHead | None, list[Announcement]]:
        """The channel's newest position and the events after number `after`, from one moment.

        Raises EventsUnavailable.
        """
        return await self._run_read(
            importance, lambda db: announcements.load_page(db, tournament_id, after, limit)
        )

    async def begin_generation(self, epoch: str) -> None:
        """Draw a new generation in place of the one in this epoch, because the database has gone back.

        Raises EventsUnavailable.
        """
        known = stamps.generation_in(epoch)
        await self._run_guarded(Importance.SCOREKEEPER, lambda: self._store.begin_generation(known))

    def close(self) -> None:
        """Stop the threads."""
        self._threads.close()

    async def _run_read(self, importance: Importance, read: Callable[[Db], T]) -> T:
        def read_snapshot() -> T:
            with self._store.read() as db:
                return read(db)

        return await self._run_guarded(importance, read_snapshot)

    async def _run_guarded(self, importance: Importance, work: Callable[[], T]) -> T:
        """Run this in a thread. Raises EventsUnavailable."""
        try:
            return await self._threads.submit(importance, work)
        except (Overloaded, DatabaseFault) as error:
            raise EventsUnavailable from error
