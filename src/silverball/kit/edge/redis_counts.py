"""Requests counted by all nodes together, in Redis.

Each node counts for itself. Once a second a thread adds to Redis what its node has counted, and reads the
sums; the node refuses by what was read last. No request waits for it. Without Redis a node knows its own
counts only.
"""

import hashlib
import heapq
import logging
import threading
import time
from collections.abc import Callable, Hashable
from typing import TYPE_CHECKING

from silverball.kit.edge.rate_limit import WINDOW_SECONDS, RateLimiter, Window

if TYPE_CHECKING:
    from redis import Redis

LOG = logging.getLogger("silverball.front")
EXCHANGE_SECONDS = 1.0
# Redis that takes longer counts as lost.
ANSWER_SECONDS = 1.0
# Callers in one exchange; the busiest come first, and the others a second later.
CALLERS_MAX = 5_000
# The first of all nodes to count opens the window. Returns the sum, and milliseconds to the end.
ADD = """
local total = redis.call('INCRBY', KEYS[1], ARGV[1])
if redis.call('PTTL', KEYS[1]) < 0 then redis.call('PEXPIRE', KEYS[1], ARGV[2]) end
return {total, redis.call('PTTL', KEYS[1])}
"""


class RedisCounts:
    """The counts that this node exchanges with the others."""

    def __init__(self, url: str, prefix: str, *, clock: Callable[[], float] = time.monotonic) -> None:
        """`clock`: the one that requests are counted by."""
        # Whether Redis has answered the last exchange.
        self.is_reachable = False
        self._url = url
        self._prefix = prefix
        self._clock = clock
        self._limiters: dict[str, RateLimiter] = {}
        self._redis: Redis | None = None
        self._is_closing = threading.Event()
        self._thread = threading.Thread(target=self._repeat, name="silverball-counts", daemon=True)

    def share(self, name: str, limiter: RateLimiter) -> None:
        """Add up what nodes count under this name."""
        self._limiters[name] = limiter

    def start(self) -> None:
        """Exchange counts once a second, until `close`."""
        self._thread.start()

    def close(self) -> None:
        """Stop, without waiting longer for Redis than it may take to answer."""
        self._is_closing.set()
        self._thread.join(ANSWER_SECONDS * 2)

    def exchange(self) -> None:
        """Add what was counted since the last time, and read the sums. Raises RedisError or OSError."""
        now = self._clock()
        counted = [
            (name, key, window, window.taken - window.reported)
            for name, limiter in self._limiters.items()
            for key, window in limiter.unreported_windows(now)
        ]
        busiest = heapq.nlargest(CALLERS_MAX, counted, key=lambda counts: counts[3])
        redis = self.connect()
        if not busiest:
            redis.ping()
            return
        with redis.pipeline(transaction=False) as pipeline:
            for name, key, _, number in busiest:
                milliseconds = str(int(WINDOW_SECONDS * 1000))
                pipeline.eval(ADD, 1, self._counter_name(name, key), str(number), milliseconds)
            sums = pipeline.execute()
        now = self._clock()
        for (_, _, window, number), (total, milliseconds_left) in zip(busiest, sums, strict=True):
            _apply_sum(window, number, total, now + milliseconds_left / 1000)

    def _repeat(self) -> None:
        from redis.exceptions import RedisError

        while not self._is_closing.wait(EXCHANGE_SECONDS):
            try:
                self.exchange()
            except (RedisError, OSError) as error:
                if self.is_reachable:
                    LOG.warning("Redis is lost; each node counts for itself: %s", error)
                self.is_reachable = False
            else:
                self.is_reachable = True
        self.disconnect()

    def disconnect(self) -> None:
        """Close the connection, after the last exchange."""
        if self._redis is not None:
            self._redis.close()

    def connect(self) -> "Redis":
        """The client of Redis, which connects when it is asked something."""
        from redis import Redis
        from redis.backoff import NoBackoff
        from redis.retry import Retry

        if self._redis is None:
            self._redis = Redis.from_url(
                self._url,
                socket_connect_timeout=ANSWER_SECONDS,
                socket_timeout=ANSWER_SECONDS,
                # What was added and not answered must not be added again at once.
                retry=Retry(NoBackoff(), 0),
            )
        return self._redis

    def _counter_name(self, name: str, key: Hashable) -> str:
        # Keys are addresses of people.
        digest = hashlib.blake2b(repr(key).encode(), digest_size=12).hexdigest()
        return f"{self._prefix}:requests:{name}:{digest}"


def _apply_sum(window: Window, number: int, total: int, ends_at: float) -> None:
    """Note what the other nodes have counted, and let the window end when theirs do."""
    window.reported += number
    window.elsewhere = max(0, total - window.reported)
    window.ends_at = ends_at
