"""Answers that are computed once for everybody who asks the same: at hand, on their way, compressed.

An answer belongs to a scope and is worth something as long as that scope's revision stands.
"""

import asyncio
from collections.abc import Callable
from concurrent.futures import Executor

from silverball.kit.edge.response_cache import (
    CachedResponse,
    CacheKey,
    CommonHeaders,
    ResponseCache,
    accepts_gzip,
    interface_headers,
)
from silverball.kit.http.endpoints import HttpResponse


class SharedResponses:
    """The finished answers of one process. Touched by the event loop only."""

    def __init__(
        self,
        shelf: ResponseCache,
        workers: Executor,
        *,
        revision_of: Callable[[int], int],
        refresh: Callable[[int], int],
    ) -> None:
        self._cache = shelf
        self._workers = workers
        self._revision_of = revision_of
        self._refresh = refresh
        self._flights: dict[tuple[CacheKey, int], asyncio.Future[CachedResponse | HttpResponse]] = {}

    def find_cached(self, key: CacheKey) -> CachedResponse | None:
        """The answer, if it is kept and its revision stands."""
        finished = self._cache.get(key)
        if finished is None or finished.revision != self._revision_of(finished.scope_id):
            return None
        self._cache.touch(key)
        return finished

    async def load(
        self,
        key: CacheKey,
        scope_id: int,
        compute: Callable[[], HttpResponse],
        *,
        revision_min: int = 0,
        common_headers: CommonHeaders = interface_headers,
    ) -> CachedResponse | HttpResponse:
        """Compute it, or wait for an equal question that is being computed at the same revision.

        `compute` runs in a worker thread; `wanted` is the least revision that will do.
        """
        loop = asyncio.get_running_loop()
        revision = self._revision_of(scope_id)
        if revision == 0 or revision_min > revision:
            revision = await loop.run_in_executor(self._workers, self._refresh, scope_id)
        flight = self._flights.get((key, revision))
        if flight is None:

            def finish() -> CachedResponse | HttpResponse:
                answer = compute()
                if answer.status != 200:
                    return answer
                # Without a revision nobody could tell when the answer becomes worthless.
                known = revision if answer.is_cacheable else 0
                return CachedResponse(
                    answer, scope_id=scope_id, revision=known, common_headers=common_headers
                )

            flight = loop.run_in_executor(self._workers, finish)
            self._flights[key, revision] = flight
            flight.add_done_callback(lambda done: self._store_result(key, revision, done))
        # One caller who hangs up must not take the answer from the others.
        return await asyncio.shield(flight)

    async def compress(self, key: CacheKey, finished: CachedResponse, headers: dict[bytes, bytes]) -> None:
        """Compress it once, the first time that somebody takes it so."""
        if not needs_compression(finished, headers):
            return
        packed = await asyncio.get_running_loop().run_in_executor(self._workers, finished.compress)
        if finished.gzip_body is not None:
            return
        is_kept = self._cache.get(key) is finished
        if is_kept:
            self._cache.drop(key)
        finished.attach_gzip(packed)
        if is_kept:
            self._cache.store(key, finished)

    def _store_result(
        self, key: CacheKey, revision: int, flight: "asyncio.Future[CachedResponse | HttpResponse]"
    ) -> None:
        del self._flights[key, revision]
        if flight.cancelled() or flight.exception() is not None:
            return
        outcome = flight.result()
        if isinstance(outcome, CachedResponse) and outcome.revision:
            self._cache.store(key, outcome)


def needs_compression(finished: CachedResponse, headers: dict[bytes, bytes]) -> bool:
    """Whether this caller takes it compressed, and nobody did before."""
    return (
        finished.gzip_body is None
        and accepts_gzip(headers.get(b"accept-encoding"))
        and headers.get(b"if-none-match") != finished.etag
    )
