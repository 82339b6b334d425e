"""Computes each response once for all clients that request it at the same revision.

A response belongs to a scope and is valid as long as the scope's revision stands.
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
    """The responses of one process, cached or being computed. Used by the event loop only."""

    def __init__(
        self,
        cache: ResponseCache,
        workers: Executor,
        *,
        revision_of: Callable[[int], int],
        refresh: Callable[[int], int],
    ) -> None:
        self._cache = cache
        self._workers = workers
        self._revision_of = revision_of
        self._refresh = refresh
        # The responses that are being computed, by key and revision.
        self._pending: dict[tuple[CacheKey, int], asyncio.Future[CachedResponse | HttpResponse]] = {}

    def find_cached(self, key: CacheKey) -> CachedResponse | None:
        """The cached response, if its revision is current."""
        cached = self._cache.get(key)
        if cached is None or cached.revision != self._revision_of(cached.scope_id):
            return None
        self._cache.touch(key)
        return cached

    async def load(
        self,
        key: CacheKey,
        scope_id: int,
        compute: Callable[[], HttpResponse],
        *,
        revision_min: int = 0,
        common_headers: CommonHeaders = interface_headers,
    ) -> CachedResponse | HttpResponse:
        """Compute the response, or wait for the one that is being computed at the same revision.

        `compute` runs in a worker thread; `revision_min` is the lowest revision that the client accepts.
        """
        loop = asyncio.get_running_loop()
        revision = self._revision_of(scope_id)
        if revision == 0 or revision_min > revision:
            revision = await loop.run_in_executor(self._workers, self._refresh, scope_id)
        pending = self._pending.get((key, revision))
        if pending is None:

            def encode() -> CachedResponse | HttpResponse:
                response = compute()
                if response.status != 200:
                    return response
                # Revision 0 marks a response that must not be cached.
                valid_at = revision if response.is_cacheable else 0
                return CachedResponse(
                    response, scope_id=scope_id, revision=valid_at, common_headers=common_headers
                )

            pending = loop.run_in_executor(self._workers, encode)
            self._pending[key, revision] = pending
            pending.add_done_callback(lambda computed: self._store_result(key, revision, computed))
        # A client that disconnects must not cancel the response for the others.
        return await asyncio.shield(pending)

    async def compress(
        self, key: CacheKey, cached: CachedResponse, request_headers: dict[bytes, bytes]
    ) -> None:
        """Gzip lazily, on the first request that accepts it."""
        if not needs_compression(cached, request_headers):
            return
        gzipped = await asyncio.get_running_loop().run_in_executor(self._workers, cached.compress)
        if cached.gzip_body is not None:
            return
        is_stored = self._cache.get(key) is cached
        if is_stored:
            self._cache.drop(key)
        cached.attach_gzip(gzipped)
        if is_stored:
            self._cache.store(key, cached)

    def _store_result(
        self, key: CacheKey, revision: int, computed: "asyncio.Future[CachedResponse | HttpResponse]"
    ) -> None:
        del self._pending[key, revision]
        if computed.cancelled() or computed.exception() is not None:
            return
        result = computed.result()
        if isinstance(result, CachedResponse) and result.revision:
            self._cache.store(key, result)


def needs_compression(cached: CachedResponse, request_headers: dict[bytes, bytes]) -> bool:
    """Whether the client accepts gzip and the response has not been compressed yet."""
    return (
        cached.gzip_body is None
        and accepts_gzip(request_headers.get(b"accept-encoding"))
        and request_headers.get(b"if-none-match") != cached.etag
    )
