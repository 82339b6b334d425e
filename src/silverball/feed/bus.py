"""Nudges between nodes: over Redis, over PostgreSQL's NOTIFY, or none where one process serves alone.

A nudge is `<tournament> <number>`. Whoever gets one reads the announcements himself, so a nudge may be
lost, doubled or late; after a connection was lost every channel is looked at once.
"""

import asyncio
import contextlib
import logging
from collections.abc import Callable, Collection, Coroutine
from typing import TYPE_CHECKING, Any

from silverball.feed.relay import Bus
from silverball.settings import Settings
from silverball.store.engine import Store

if TYPE_CHECKING:
    import psycopg
    from redis.asyncio import Redis

LOG = logging.getLogger("silverball.feed")
TOPIC = "feed"
AGAIN_AFTER_SECONDS = 1.0
# Nudges that wait to be sent; when there are more, the other nodes look by themselves.
QUEUE_MAX = 10_000
Nudged = Callable[[Collection[int] | None], None]


def bus_of(settings: Settings, store: Store) -> Bus | None:
    """The bus that the settings name; None where one process serves alone."""
    if settings.redis_url:
        return RedisBus(settings.redis_url, settings.redis_prefix)
    return None if store.is_sqlite else PostgreSQLBus(store.url.render_as_string(hide_password=False))


class _Wire:
    """What both kinds share: one task that listens, one that sends, both for as long as it takes."""

    name = ""

    def __init__(self) -> None:
        self._tasks: list[asyncio.Task[None]] = []
        self._queue: asyncio.Queue[tuple[int, int]] = asyncio.Queue(QUEUE_MAX)
        self._nudged: Nudged = lambda _ids: None

    def start(self, nudged: Nudged) -> None:
        """Call back with the channels to look at, or None for all of them."""
        self._nudged = nudged
        loop = asyncio.get_running_loop()
        self._tasks = [
            loop.create_task(self._for_ever(self._listen)),
            loop.create_task(self._for_ever(self._send)),
        ]

    def tell(self, announced: dict[int, int]) -> None:
        """Nudge the other nodes: tournament id -> its newest number."""
        for nudge in announced.items():
            with contextlib.suppress(asyncio.QueueFull):
                self._queue.put_nowait(nudge)

    async def close(self) -> None:
        """Nudge nobody any more."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _heard(self, payload: str) -> None:
        word = payload.partition(" ")[0]
        if word.isascii() and word.isdigit() and len(word) < 20:
            self._nudged([int(word)])

    async def _for_ever(self, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
        is_lost = False
        while True:
            try:
                if is_lost:
                    await asyncio.sleep(AGAIN_AFTER_SECONDS)
                    self._nudged(None)
                await work()
            except self.faults() as error:
                if not is_lost:
                    LOG.warning("%s is not there; nodes look once a second instead: %s", self.name, error)
            is_lost = True

    def faults(self) -> tuple[type[Exception], ...]:
        """What may happen to a connection, and goes by."""
        raise NotImplementedError

    async def _listen(self) -> None:
        raise NotImplementedError

    async def _send(self) -> None:
        raise NotImplementedError


class RedisBus(_Wire):
    """Nudges over Redis' publish and subscribe."""

    name = "Redis"

    def __init__(self, url: str, prefix: str) -> None:
        super().__init__()
        self._url = url
        self._channel = f"{prefix}:{TOPIC}"

    def faults(self) -> tuple[type[Exception], ...]:
        """What may happen to a connection, and goes by."""
        from redis.exceptions import RedisError

        return (RedisError, OSError, TimeoutError)

    def _connected(self) -> "Redis":
        from redis.asyncio import Redis

        return Redis.from_url(self._url, socket_connect_timeout=5, health_check_interval=15)

    async def _listen(self) -> None:
        async with self._connected() as redis, redis.pubsub() as listening:
            await listening.subscribe(self._channel)
            # What was told before this moment was not heard.
            self._nudged(None)
            async for message in listening.listen():
                if message["type"] == "message":
                    self._heard(message["data"].decode("utf-8", "replace"))

    async def _send(self) -> None:
        async with self._connected() as redis:
            while True:
                tournament_id, seq = await self._queue.get()
                await redis.publish(self._channel, f"{tournament_id} {seq}")


class PostgreSQLBus(_Wire):
    """Nudges over LISTEN and NOTIFY of the database itself."""

    name = "PostgreSQL"

    def __init__(self, url: str) -> None:
        super().__init__()
        self._url = url.replace("postgresql+psycopg://", "postgresql://", 1)

    def faults(self) -> tuple[type[Exception], ...]:
        """What may happen to a connection, and goes by."""
        import psycopg

        return (psycopg.Error, OSError, TimeoutError)

    async def _connected(self) -> "psycopg.AsyncConnection[tuple[str, ...]]":
        import psycopg

        return await psycopg.AsyncConnection.connect(self._url, autocommit=True)

    async def _listen(self) -> None:
        async with await self._connected() as db:
            await db.execute(f'LISTEN "silverball_{TOPIC}"')
            self._nudged(None)
            async for one in db.notifies():
                self._heard(one.payload)

    async def _send(self) -> None:
        async with await self._connected() as db:
            while True:
                tournament_id, seq = await self._queue.get()
                payload = f"{tournament_id} {seq}"
                await db.execute("SELECT pg_notify(%s, %s)", (f"silverball_{TOPIC}", payload))
