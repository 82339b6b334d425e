"""The announcements of the database, asked for from the event loop.

A few threads of its own do the reading, so that followers never wait behind the answers of the
interface, nor these behind them.
"""

import asyncio
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from silverball.feed.log import EventsUnavailable
from silverball.store import announcements
from silverball.store.announcements import Announcement, ChannelHead
from silverball.store.engine import Db, Store
from silverball.store.faults import DatabaseFault

READER_THREADS = 2
T = TypeVar("T")


class StoredEvents:
    """What the hub, the relay and the replay ask about the announcements."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._threads = ThreadPoolExecutor(READER_THREADS, thread_name_prefix="silverball-feed")

    async def head(self, tournament_id: int) -> ChannelHead | None:
        """Where the channel stands; None when there is no such tournament. Raises Unavailable."""
        return await self._run_read(lambda db: announcements.channel_head(db, tournament_id))

    async def heads(self, tournament_ids: Collection[int]) -> dict[int, ChannelHead]:
        """Where each of these channels stands; one that is gone is left out. Raises Unavailable."""
        return await self._run_read(lambda db: announcements.channel_heads_by_id(db, tournament_ids))

    async def events_after(
        self, tournament_id: int, epoch: str, after: int, limit: int
    ) -> list[Announcement]:
        """What follows number `after`, at most so many. Raises Unavailable."""
        return await self._run_read(
            lambda db: announcements.load_since(db, tournament_id, epoch, after, limit)
        )

    async def events_page(
        self, tournament_id: int, after: int, limit: int
    ) -> tuple[ChannelHead | None, list[Announcement]]:
        """Where the channel stands and what follows number `after` in its epoch, from one moment.

        Raises Unavailable.
        """

        def read(db: Db) -> tuple[ChannelHead | None, list[Announcement]]:
            head = announcements.channel_head(db, tournament_id)
            if head is None:
                return None, []
            return head, announcements.load_since(db, tournament_id, head.epoch, after, limit)

        return await self._run_read(read)

    async def events_between(  # one question, told in full
        self, tournament_id: int, epoch: str, after: int, until: int, limit: int, bytes_max: int
    ) -> Sequence[Announcement] | None:
        """All of (after, until] in order; None when that cannot be told: trimmed, or beyond a limit.

        Raises Unavailable.
        """
        if until - after > limit:
            return None
        found = await self.events_after(tournament_id, epoch, after, until - after)
        is_whole = [one.seq for one in found] == list(range(after + 1, until + 1))
        is_small = sum(len(one.data) for one in found) <= bytes_max
        return found if is_whole and is_small else None

    def close(self) -> None:
        """Let the threads go."""
        self._threads.shutdown()

    async def _run_read(self, question: Callable[[Db], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._threads, self._read_in_thread, question)

    def _read_in_thread(self, question: Callable[[Db], T]) -> T:
        try:
            with self._store.read() as db:
                return question(db)
        except DatabaseFault as error:
            raise EventsUnavailable from error
