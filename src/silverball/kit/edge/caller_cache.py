"""Who is asking: looked up in a worker thread, remembered for a few seconds."""

import asyncio
from collections.abc import Callable
from concurrent.futures import Executor

from silverball.kit.http.endpoints import Caller

CALLER_SECONDS = 5.0
CALLERS_MAX = 10_000
# No token is this long, and what is looked up is remembered.
AUTHORIZATION_BYTES_MAX = 300


class CachedCaller:
    """An Authorization header that was looked up, for a few seconds."""

    __slots__ = ("caller", "own", "runs", "until", "user_id", "viewer")

    def __init__(self, caller: Caller | None, until: float) -> None:
        self.caller = caller
        self.until = until
        self.user_id = caller.user_id if caller else 0
        # Nobody's answers are kept apart: most of them are a 401.
        self.viewer = caller.viewer if caller else "nobody"
        # The viewer class too: a user can have a token that shows more than another of his.
        self.own = f"{self.user_id} {self.viewer}"
        # Tournament -> whether it runs now and is the caller's own, as far as it was asked.
        self.runs: dict[int, bool] = {}


class CallerCache:
    """Everybody who asked lately, by Authorization header. Touched by one thread only."""

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
        """Who this header speaks for; `nobody` when there is none or it cannot be a token."""
        if authorization is None or len(authorization) > AUTHORIZATION_BYTES_MAX:
            return self.anonymous
        guest = self._entries.get(authorization)
        if guest is not None and self._clock() < guest.until:
            return guest
        # Until then at the latest a revoked token is noticed; counted from before the look.
        until = self._clock() + CALLER_SECONDS
        loop = asyncio.get_running_loop()
        guest = CachedCaller(
            await loop.run_in_executor(self._workers, self._find_caller, authorization), until
        )
        self._entries.pop(authorization, None)
        while len(self._entries) >= CALLERS_MAX:
            del self._entries[next(iter(self._entries))]
        self._entries[authorization] = guest
        return guest
