"""The announcements of the database, asked for from the event loop.

A few threads of its own do the reading, so that followers never wait behind the answers of the
interface, nor these behind them.
"""

import asyncio
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from silverball.feed.log import Unavailable
from silverball.store import announcements
from silverball.store.announcements import Announced, Head
from silverball.store.engine import Db, Store
from silverball.store.faults import DatabaseFault

READERS = 2
T = TypeVar("T")


class StoredLog:
    """What the hub, the relay and the replay ask about the announcements."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._threads = ThreadPoolExecutor(READERS, thread_name_prefix="silverball-feed")

    async def head(self, tournament_id: int) -> Head | None:
        """Where the channel stands; None when there is no such tournament. Raises Unavailable."""
        return await self._asked(lambda db: announcements.head(db, tournament_id))

    async def heads(self, tournament_ids: Collection[int]) -> dict[int, Head]:
        """Where each of these channels stands; one that is gone is left out. Raises Unavailable."""
        return await self._asked(lambda db: announcements.heads(db, tournament_ids))

    async def some(self, tournament_id: int, epoch: str, after: int, limit: int) -> list[Announced]:
        """What follows number `after`, at most so many. Raises Unavailable."""
        return await self._asked(lambda db: announcements.since(db, tournament_id, epoch, after, limit))

    async def page(self, tournament_id: int, after: int, limit: int) -> tuple[Head | None, list[Announced]]:
        """Where the channel stands and what follows number `after` in its epoch, from one moment.

        Raises Unavailable.
        """

        def read(db: Db) -> tuple[Head | None, list[Announced]]:
            head = announcements.head(db, tournament_id)
            if head is None:
                return None, []
            return head, announcements.since(db, tournament_id, head.epoch, after, limit)

        return await self._asked(read)

    async def since(  # one question, told in full
        self, tournament_id: int, epoch: str, after: int, until: int, limit: int, bytes_max: int
    ) -> Sequence[Announced] | None:
        """All of (after, until] in order; None when that cannot be told: trimmed, or beyond a limit.

        Raises Unavailable.
        """
        if until - after > limit:
            return None
        found = await self.some(tournament_id, epoch, after, until - after)
        is_whole = [one.seq for one in found] == list(range(after + 1, until + 1))
        is_small = sum(len(one.data) for one in found) <= bytes_max
        return found if is_whole and is_small else None

    def close(self) -> None:
        """Let the threads go."""
        self._threads.shutdown()

    async def _asked(self, question: Callable[[Db], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._threads, self._answered, question)

    def _answered(self, question: Callable[[Db], T]) -> T:
        try:
            with self._store.read() as db:
                return question(db)
        except DatabaseFault as error:
            raise Unavailable from error
