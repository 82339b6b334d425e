"""Nudges between nodes: over Redis, over PostgreSQL's NOTIFY, or none where one process serves alone.

A nudge is `<tournament> <number>`. The node that receives it reads the announcements itself, so a nudge
may be lost, doubled or late; after a connection was lost, every channel is checked once.
"""

import asyncio
import contextlib
import logging
from collections.abc import Callable, Collection, Coroutine
from typing import TYPE_CHECKING, Any

from silverball.feed.relay import NudgeBus
from silverball.settings import Settings
from silverball.store.engine import Store

if TYPE_CHECKING:
    import psycopg
    from redis.asyncio import Redis

LOG = logging.getLogger("silverball.feed")
TOPIC = "feed"
RECONNECT_SECONDS = 1.0
# Nudges that wait to be sent; those beyond are dropped, as the other nodes also poll.
QUEUE_MAX = 10_000
# Called with the channels to check, or None for all of them.
OnNudge = Callable[[Collection[int] | None], None]


def create_bus(settings: Settings, store: Store) -> NudgeBus | None:
    """The bus of the settings; None where one process serves alone."""
    if settings.redis_url:
        return RedisBus(settings.redis_url, settings.redis_prefix)
    return None if store.is_sqlite else PostgreSQLBus(store.url.render_as_string(hide_password=False))


class _ReconnectingBus:
    """One task that listens and one that sends, each reconnecting as often as it must."""

    name = ""

    def __init__(self) -> None:
        self._tasks: list[asyncio.Task[None]] = []
        self._queue: asyncio.Queue[tuple[int, int]] = asyncio.Queue(QUEUE_MAX)
        self._on_nudge: OnNudge = lambda _ids: None

    def start(self, on_nudge: OnNudge) -> None:
        """Listen and send, and call `on_nudge` for every nudge."""
        self._on_nudge = on_nudge
        loop = asyncio.get_running_loop()
        self._tasks = [
            loop.create_task(self._run_with_reconnect(self._listen)),
            loop.create_task(self._run_with_reconnect(self._send)),
        ]

    def send_nudges(self, newest_seqs: dict[int, int]) -> None:
        """Nudge the other nodes: tournament id -> its newest number."""
        for nudge in newest_seqs.items():
            with contextlib.suppress(asyncio.QueueFull):
                self._queue.put_nowait(nudge)

    async def close(self) -> None:
        """Stop listening and sending."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _receive_nudge(self, payload: str) -> None:
        word = payload.partition(" ")[0]
        if word.isascii() and word.isdigit() and len(word) < 20:
            self._on_nudge([int(word)])

    async def _run_with_reconnect(self, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
        is_lost = False
        while True:
            try:
                if is_lost:
                    await asyncio.sleep(RECONNECT_SECONDS)
                    self._on_nudge(None)
                await work()
            except self.connection_errors() as error:
                if not is_lost:
                    LOG.warning("%s is unreachable; nodes poll once a second instead: %s", self.name, error)
            is_lost = True

    def connection_errors(self) -> tuple[type[Exception], ...]:
        """The errors of a lost connection, after which a new one is tried."""
        raise NotImplementedError

    async def _listen(self) -> None:
        raise NotImplementedError

    async def _send(self) -> None:
        raise NotImplementedError


class RedisBus(_ReconnectingBus):
    """Nudges over Redis' publish and subscribe."""

    name = "Redis"

    def __init__(self, url: str, prefix: str) -> None:
        super().__init__()
        self._url = url
        self._channel = f"{prefix}:{TOPIC}"

    def connection_errors(self) -> tuple[type[Exception], ...]:
        """The errors of a lost connection, after which a new one is tried."""
        from redis.exceptions import RedisError

        return (RedisError, OSError, TimeoutError)

    def _connect(self) -> "Redis":
        from redis.asyncio import Redis

        return Redis.from_url(self._url, socket_connect_timeout=5, health_check_interval=15)

    async def _listen(self) -> None:
        async with self._connect() as redis, redis.pubsub() as pubsub:
            await pubsub.subscribe(self._channel)
            # Nudges that were sent before this moment did not arrive here.
            self._on_nudge(None)
            async for message in pubsub.listen():
                if message["type"] == "message":
                    self._receive_nudge(message["data"].decode("utf-8", "replace"))

    async def _send(self) -> None:
        async with self._connect() as redis:
            while True:
                tournament_id, seq = await self._queue.get()
                await redis.publish(self._channel, f"{tournament_id} {seq}")


class PostgreSQLBus(_ReconnectingBus):
    """Nudges over LISTEN and NOTIFY of the database itself."""

    name = "PostgreSQL"

    def __init__(self, url: str) -> None:
        super().__init__()
        self._url = url.replace("postgresql+psycopg://", "postgresql://", 1)

    def connection_errors(self) -> tuple[type[Exception], ...]:
        """The errors of a lost connection, after which a new one is tried."""
        import psycopg

        return (psycopg.Error, OSError, TimeoutError)

    async def _connect(self) -> "psycopg.AsyncConnection[tuple[str, ...]]":
        import psycopg

        return await psycopg.AsyncConnection.connect(self._url, autocommit=True)

    async def _listen(self) -> None:
        async with await self._connect() as db:
            await db.execute(f'LISTEN "silverball_{TOPIC}"')
            self._on_nudge(None)
            async for notification in db.notifies():
                self._receive_nudge(notification.payload)

    async def _send(self) -> None:
        async with await self._connect() as db:
            while True:
                tournament_id, seq = await self._queue.get()
                payload = f"{tournament_id} {seq}"
                await db.execute("SELECT pg_notify(%s, %s)", (f"silverball_{TOPIC}", payload))
