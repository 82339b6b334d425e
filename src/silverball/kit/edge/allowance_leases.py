"""Leases of allowances, kept in Redis for all nodes.

One task asks for all portions that are wanted at the moment in one round trip. When Redis cannot be
reached, each node gives its own allowances until it is back.
"""

import asyncio
import contextlib
import hashlib
import logging
import secrets
from collections.abc import Hashable
from typing import TYPE_CHECKING, Any

from silverball.kit.edge.leased_rate_limit import LeaseAnswer, LeasedRateLimiter
from silverball.kit.edge.rate_limit import WINDOW_SECONDS, RateLimiter

if TYPE_CHECKING:
    from redis.asyncio import Redis

LOG = logging.getLogger("silverball.front")
# A node that has not been heard of for longer is gone.
NODE_SECONDS = 10
HEARTBEAT_SECONDS = 2.0
RECONNECT_SECONDS = 1.0
# Redis that takes longer counts as lost.
ANSWER_SECONDS = 1.0
# Of one key: how much is leased. Returns the portion, what is left, and milliseconds to the end.
LEASE = """
local used = tonumber(redis.call('GET', KEYS[1]) or '0')
local portion = math.max(0, math.min(tonumber(ARGV[2]), tonumber(ARGV[1]) - used))
redis.call('INCRBY', KEYS[1], portion)
if redis.call('PTTL', KEYS[1]) < 0 then redis.call('PEXPIRE', KEYS[1], ARGV[3]) end
return {portion, tonumber(ARGV[1]) - used - portion, redis.call('PTTL', KEYS[1])}
"""
# Nodes by the time of their last heartbeat, on the clock of Redis. Returns how many there are.
HEARTBEAT = """
local now = tonumber(redis.call('TIME')[1])
redis.call('ZADD', KEYS[1], now, ARGV[1])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - tonumber(ARGV[2]))
return redis.call('ZCARD', KEYS[1])
"""
Wanted = tuple[str, int, int, LeaseAnswer]


class AllowanceLeases:
    """The allowances that this node shares with others. Used by one event loop only."""

    def __init__(self, url: str, prefix: str) -> None:
        self.is_reachable = False
        self.nodes = 1
        self._url = url
        self._prefix = prefix
        self._node = secrets.token_hex(8)
        self._wanted: list[Wanted] = []
        self._is_wanted = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    def limiter(self, name: str, limit: int) -> RateLimiter:
        """A limiter whose allowances are shared under this name."""
        return LeasedRateLimiter(name, limit, self) if limit else RateLimiter(limit)

    def ask(self, name: str, key: Hashable, limit: int, portion: int, answer: LeaseAnswer) -> None:
        """Ask for a portion, at most; the answer is called later, on the event loop."""
        if not self.is_reachable:
            answer(None)
            return
        # A digest, because keys are addresses of people.
        digest = hashlib.blake2b(repr(key).encode(), digest_size=12).hexdigest()
        self._wanted.append((f"{self._prefix}:allowance:{name}:{digest}", limit, portion, answer))
        self._is_wanted.set()

    def start(self) -> None:
        """Connect, and keep asking. Called on the event loop."""
        self._task = asyncio.get_running_loop().create_task(self._run())

    async def close(self) -> None:
        """Undo `start`, and wait until the connection is closed."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def _run(self) -> None:
        from redis.asyncio import Redis
        from redis.exceptions import RedisError

        while True:
            try:
                async with Redis.from_url(
                    self._url, socket_connect_timeout=ANSWER_SECONDS, socket_timeout=ANSWER_SECONDS
                ) as redis:
                    await self._serve(redis)
            except (RedisError, OSError, TimeoutError) as error:
                if self.is_reachable:
                    LOG.warning("Redis is unreachable; each node gives its own allowances: %s", error)
            self.is_reachable = False
            for *_, answer in self._take_wanted():
                answer(None)
            await asyncio.sleep(RECONNECT_SECONDS)

    async def _serve(self, redis: "Redis") -> None:
        """Answer what is asked until Redis is lost."""
        loop = asyncio.get_running_loop()
        beats_at = 0.0
        while True:
            if loop.time() >= beats_at:
                self.nodes = int(
                    await self._eval(redis, HEARTBEAT, f"{self._prefix}:nodes", self._node, NODE_SECONDS)
                )
                beats_at = loop.time() + HEARTBEAT_SECONDS
                self.is_reachable = True
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout_at(beats_at):
                    await self._is_wanted.wait()
            if self._wanted:
                await self._lease(redis)

    async def _lease(self, redis: "Redis") -> None:
        wanted = self._take_wanted()
        try:
            async with redis.pipeline(transaction=False) as pipeline:
                for name, limit, portion, _ in wanted:
                    pipeline.eval(LEASE, 1, name, str(limit), str(portion), str(int(WINDOW_SECONDS * 1000)))
                leases = await pipeline.execute()
        except BaseException:
            for *_, answer in wanted:
                answer(None)
            raise
        for (*_, answer), (portion, unleased, milliseconds) in zip(wanted, leases, strict=True):
            answer((portion, max(0, unleased), milliseconds / 1000))

    def _take_wanted(self) -> list[Wanted]:
        wanted, self._wanted = self._wanted, []
        self._is_wanted.clear()
        return wanted

    async def _eval(self, redis: "Redis", script: str, key: str, *arguments: Any) -> Any:
        return await redis.eval(script, 1, key, *map(str, arguments))
