"""Callers by Authorization header: loaded in a worker thread, cached for a few seconds."""

import asyncio
from collections.abc import Callable
from concurrent.futures import Executor

from silverball.kit.http.endpoints import Caller

CALLER_SECONDS = 5.0
CALLERS_MAX = 10_000
# Longer than any token. The limit bounds the size of the cache.
AUTHORIZATION_BYTES_MAX = 300


class CachedCaller:
    """The caller behind an Authorization header, valid for a few seconds."""

    __slots__ = ("caller", "expires_at", "owns_scope", "private_viewer", "user_id", "viewer")

    def __init__(self, caller: Caller | None, expires_at: float) -> None:
        self.caller = caller
        self.expires_at = expires_at
        self.user_id = caller.user_id if caller else 0
        # Requests without a token share their answers, most of which are a 401.
        self.viewer = caller.viewer if caller else "nobody"
        # Two tokens of one user can belong to different viewer classes.
        self.private_viewer = f"{self.user_id} {self.viewer}"
        # Scope -> whether its tournament is running and the caller's own, as far as it is known.
        self.owns_scope: dict[int, bool] = {}


class CallerCache:
    """Recent callers by Authorization header. Used by one thread only."""

    def __init__(
        self,
        find_caller: Callable[[bytes], Caller | None],
        workers: Executor,
        clock: Callable[[], float],
    ) -> None:
        self.anonymous = CachedCaller(None, float("inf"))
        self._entries: dict[bytes, CachedCaller] = {}
        self.get = self._entries.get
        self._find_caller = find_caller
        self._workers = workers
        self._clock = clock

    async def find(self, authorization: bytes | None) -> CachedCaller:
        """The caller of this header; `anonymous` when it is missing or no token."""
        if authorization is None or len(authorization) > AUTHORIZATION_BYTES_MAX:
            return self.anonymous
        cached = self._entries.get(authorization)
        if cached is not None and self._clock() < cached.expires_at:
            return cached
        # A revoked token is noticed at the latest then, so the time counts from before the lookup.
        expires_at = self._clock() + CALLER_SECONDS
        loop = asyncio.get_running_loop()
        caller = await loop.run_in_executor(self._workers, self._find_caller, authorization)
        cached = CachedCaller(caller, expires_at)
        self._entries.pop(authorization, None)
        while len(self._entries) >= CALLERS_MAX:
            del self._entries[next(iter(self._entries))]
        self._entries[authorization] = cached
        return cached
