"""The ledger of leases and connections in Redis."""

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from silverball.kit.edge.allowance_leases import ANSWER_SECONDS, LeaseRequest, LedgerLost, NodeReport
from silverball.kit.edge.rate_limit import WINDOW_SECONDS

if TYPE_CHECKING:
    from redis.asyncio import Redis

# A node that has not been heard of for longer is gone.
NODE_SECONDS = 10
# Of one key: how much is leased. Returns the portion, what is left, and milliseconds to the end.
LEASE = """
local used = tonumber(redis.call('GET', KEYS[1]) or '0')
local portion = math.max(0, math.min(tonumber(ARGV[2]), tonumber(ARGV[1]) - used))
redis.call('INCRBY', KEYS[1], portion)
if redis.call('PTTL', KEYS[1]) < 0 then redis.call('PEXPIRE', KEYS[1], ARGV[3]) end
return {portion, tonumber(ARGV[1]) - used - portion, redis.call('PTTL', KEYS[1])}
"""
# Nodes by the time of their last report, on the clock of Redis. Returns them.
REPORT = """
local now = tonumber(redis.call('TIME')[1])
redis.call('ZADD', KEYS[1], now, ARGV[1])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - tonumber(ARGV[2]))
return redis.call('ZRANGE', KEYS[1], 0, -1)
"""


class RedisLedger:
    """A ledger in Redis of leases and counts of all nodes."""

    name = "Redis"

    def __init__(self, url: str, prefix: str) -> None:
        self._url = url
        self._prefix = prefix
        self._redis: Redis | None = None

    async def lease(self, wanted: Sequence[LeaseRequest]) -> list[tuple[int, int, float]]:
        """Lease portions; returns of each: size, what is left, seconds to the end. Raises LedgerLost."""
        milliseconds = str(int(WINDOW_SECONDS * 1000))
        rows = await self._ask(
            [
                (LEASE, f"{self._prefix}:allowance:{asked.name}", asked.limit, asked.portion, milliseconds)
                for asked in wanted
            ]
        )
        return [(portion, max(0, unleased), ends_in / 1000) for portion, unleased, ends_in in rows]

    async def report(self, node: str, connections: Mapping[str, int]) -> NodeReport:
        """Report that this node is there, and its connections. Raises LedgerLost."""
        ((nodes),) = await self._ask([(REPORT, f"{self._prefix}:nodes", node, NODE_SECONDS)])
        others = [other for other in (name.decode() for name in nodes) if other != node]
        elsewhere: dict[str, int] = {}
        for text in await self._exchange_connections(node, connections, others):
            for address, number in json.loads(text or b"{}").items():
                elsewhere[address] = elsewhere.get(address, 0) + number
        return NodeReport(len(others) + 1, elsewhere)

    async def close(self) -> None:
        """Close the connection; the next call opens another."""
        redis, self._redis = self._redis, None
        if redis is not None:
            await redis.aclose()

    async def _exchange_connections(
        self, node: str, connections: Mapping[str, int], others: Sequence[str]
    ) -> list[bytes | None]:
        from redis.exceptions import RedisError

        redis, name = self._connected(), f"{self._prefix}:connections"
        try:
            await redis.set(f"{name}:{node}", json.dumps(dict(connections)), ex=NODE_SECONDS)
            listed: list[Any] = await redis.mget([f"{name}:{other}" for other in others]) if others else []
        except (RedisError, OSError) as error:
            await self.close()
            raise LedgerLost(str(error)) from error
        return listed

    async def _ask(self, scripts: Sequence[tuple[Any, ...]]) -> list[Any]:
        """Run scripts on one key each, in one round trip."""
        from redis.exceptions import RedisError

        try:
            async with self._connected().pipeline(transaction=False) as pipeline:
                for script, key, *arguments in scripts:
                    pipeline.eval(script, 1, key, *map(str, arguments))
                return list(await pipeline.execute())
        except (RedisError, OSError, TimeoutError) as error:
            await self.close()
            raise LedgerLost(str(error)) from error

    def _connected(self) -> "Redis":
        from redis.asyncio import Redis

        if self._redis is None:
            seconds = ANSWER_SECONDS / 2
            self._redis = Redis.from_url(self._url, socket_connect_timeout=seconds, socket_timeout=seconds)
        return self._redis
