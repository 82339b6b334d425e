"""The rate limit of each request: the caller's own, or that of a tournament they are running."""

import asyncio
from collections.abc import Callable
from concurrent.futures import Executor

from silverball.kit.edge.backend import Backend, FrontDoorLimits, client_address
from silverball.kit.edge.caller_cache import CachedCaller
from silverball.kit.edge.rate_limit import MinimumInterval, RateLimiter, RequestQuota
from silverball.kit.http.asgi import Headers, Scope

# Ownership is looked up for this many tournaments while a caller is cached.
OWN_TOURNAMENTS_MAX = 50


class Quotas:
    """The rate limits of one process. Used by the event loop only."""

    def __init__(
        self,
        program: Backend,
        limits: FrontDoorLimits,
        workers: Executor,
        wall_clock: Callable[[], float],
    ) -> None:
        self._program = program
        self._workers = workers
        self._wall_clock = wall_clock
        self._limiter = RateLimiter(limits.rate_per_minute)
        self._own_limiter = RateLimiter(max(limits.own_per_minute, limits.rate_per_minute))
        # The minimum time between two reads of a running tournament's standings.
        self.standings_interval = MinimumInterval(limits.standings_interval_seconds)

    def is_known(self, caller: CachedCaller, scope_id: int) -> bool:
        """Whether the quota can be told without asking for the tournament's owner."""
        return (
            not scope_id or caller.caller is None or scope_id in caller.owns_scope or not self._limiter.limit
        )

    async def load_ownership(self, cached: CachedCaller, scope_id: int) -> None:
        """Look up whether the caller runs this tournament now, and cache that with the caller."""
        caller = cached.caller
        if caller is None or self.is_known(cached, scope_id):
            return
        if len(cached.owns_scope) >= OWN_TOURNAMENTS_MAX:
            return
        cached.owns_scope[scope_id] = await asyncio.get_running_loop().run_in_executor(
            self._workers, self._program.has_own_quota, caller, scope_id
        )

    def quota_for(
        self, caller: CachedCaller, scope: Scope, headers: dict[bytes, bytes], scope_id: int
    ) -> RequestQuota:
        """The quota that this request is counted against."""
        is_free = self._program.is_uncounted(scope["path"])
        if caller.owns_scope.get(scope_id):
            return RequestQuota(self._own_limiter, (caller.user_id, scope_id), is_free=is_free)
        key = caller.user_id or client_address(scope, headers)
        return RequestQuota(self._limiter, key, is_free=is_free)

    def retry_headers(self, wait_seconds: int) -> Headers:
        """The headers that tell the client when to try again."""
        resets_at = int(self._wall_clock()) + wait_seconds
        return [(b"retry-after", b"%d" % wait_seconds), (b"x-ratelimit-reset", b"%d" % resets_at)]
