"""Nudges between nodes: over Redis, over PostgreSQL's NOTIFY, or none where one process serves alone.

A nudge is `<tournament> <number>`. The node that receives it reads the announcements itself, so a nudge
may be lost, doubled or late; after a connection was lost, every channel is checked once.
"""

import asyncio
import contextlib
import logging
import os
import socket
from collections.abc import Callable, Collection, Coroutine, Sequence
from typing import TYPE_CHECKING, Any

from silverball.feed.relay import NudgeBus
from silverball.kit.tasks import end_tasks
from silverball.settings import SettingError, Settings
from silverball.store.database.engine import Store

if TYPE_CHECKING:
    import psycopg
    from redis.asyncio import Redis

LOG = logging.getLogger("silverball.feed")
TOPIC = "feed"
RECONNECT_SECONDS = 1.0
# After this much silence a connection that listens is asked whether it is alive, and it has as long to
# answer: a machine that vanished closes nothing.
SILENCE_SECONDS = 2.0
ANSWER_SECONDS = 2.0
# Nudges that wait to be sent; those beyond are dropped, as the other nodes also poll.
QUEUE_MAX = 10_000
# Called with the channels to check, or None for all of them.
OnNudge = Callable[[Collection[int] | None], None]


def create_bus(settings: Settings, store: Store) -> NudgeBus | None:
    """The bus of the settings; None where one process serves alone."""
    if settings.redis_url:
        check_redis_url(settings.redis_url)
        return RedisBus(settings.redis_url, settings.redis_prefix)
    return None if store.is_sqlite else PostgreSQLBus(store.url.render_as_string(hide_password=False))


def check_redis_url(url: str) -> None:
    """Raise SettingError for an address that can never be reached, as it would be tried for ever."""
    from redis.asyncio import ConnectionPool

    try:
        ConnectionPool.from_url(url)
    except ValueError as error:
        # The address itself may hold a password.
        raise SettingError(f"SILVERBALL_REDIS_URL cannot be used: {error}") from None


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
        await end_tasks(self._tasks)

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

        return Redis.from_url(
            self._url, socket_connect_timeout=ANSWER_SECONDS, socket_timeout=SILENCE_SECONDS + ANSWER_SECONDS
        )

    async def _listen(self) -> None:
        async with self._connect() as redis, redis.pubsub() as pubsub:
            await pubsub.subscribe(self._channel)
            # Nudges that were sent before this moment did not arrive here.
            self._on_nudge(None)
            is_asked = False
            while True:
                message = await pubsub.get_message(timeout=SILENCE_SECONDS)
                if message is not None:
                    is_asked = False
                    if message["type"] == "message":
                        self._receive_nudge(message["data"].decode("utf-8", "replace"))
                elif is_asked:
                    raise TimeoutError("no answer")
                else:
                    await pubsub.ping()
                    is_asked = True

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

        return await psycopg.AsyncConnection.connect(
            self._url, autocommit=True, connect_timeout=int(ANSWER_SECONDS)
        )

    async def _listen(self) -> None:
        async with await self._connect() as db:
            await _execute(db, f'LISTEN "silverball_{TOPIC}"')
            self._on_nudge(None)
            while True:
                async for notification in db.notifies(timeout=SILENCE_SECONDS):
                    self._receive_nudge(notification.payload)
                await _execute(db, "SELECT 1")

    async def _send(self) -> None:
        async with await self._connect() as db:
            while True:
                tournament_id, seq = await self._queue.get()
                payload = f"{tournament_id} {seq}"
                await _execute(db, "SELECT pg_notify(%s, %s)", (f"silverball_{TOPIC}", payload))


async def _execute(db: "psycopg.AsyncConnection[Any]", statement: str, values: Sequence[str] = ()) -> None:
    """Run a statement. Raises TimeoutError when the server does not answer in time.

    Cancelling it would ask the same server, so the socket is shut instead and the statement fails by itself.
    """
    running = asyncio.ensure_future(db.execute(statement.encode(), values or None))
    await asyncio.wait({running}, timeout=ANSWER_SECONDS)
    if not running.done():
        with contextlib.suppress(OSError), socket.socket(fileno=os.dup(db.fileno())) as shut:
            shut.shutdown(socket.SHUT_RDWR)
        await asyncio.wait({running}, timeout=ANSWER_SECONDS)
        if running.done():
            running.exception()
        raise TimeoutError("no answer")
    await running
