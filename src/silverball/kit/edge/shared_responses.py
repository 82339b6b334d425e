"""Computes each response once for all clients that request it at the same revision.

A response belongs to a scope and is valid as long as the scope's revision stands.
"""

import asyncio
from collections.abc import Callable

from silverball.kit.edge.response_cache import (
    CachedResponse,
    CacheKey,
    CommonHeaders,
    ResponseCache,
    accepts_gzip,
    interface_headers,
)
from silverball.kit.edge.work_queue import Importance, WorkQueue
from silverball.kit.http.endpoints import HttpResponse


class SharedResponses:
    """The responses of one process, cached or being computed. Used by the event loop only."""

    def __init__(
        self,
        cache: ResponseCache,
        workers: WorkQueue,
        *,
        revision_of: Callable[[int], int],
        refresh: Callable[[int], int],
    ) -> None:
        self._cache = cache
        self._workers = workers
        self._revision_of = revision_of
        self._refresh = refresh
        # The revisions that are not known here yet and are being read, by scope.
        self._lookups: dict[int, asyncio.Future[int]] = {}
        # The responses that are being computed, by key and revision.
        self._pending: dict[tuple[CacheKey, int], asyncio.Future[CachedResponse | HttpResponse]] = {}

    def find_cached(self, key: CacheKey) -> CachedResponse | None:
        """The cached response, if its revision is current."""
        cached = self._cache.get(key)
        if cached is None or cached.revision != self._revision_of(cached.scope_id):
            return None
        self._cache.touch(key)
        return cached

    def admits(self, key: CacheKey, scope_id: int, importance: Importance) -> bool:
        """Whether `load` takes this response on: there is room for it, or it is being computed."""
        if self._workers.admits(importance):
            return True
        revision = self._revision_of(scope_id)
        return (key, revision) in self._pending or (not revision and scope_id in self._lookups)

    async def load(
        self,
        key: CacheKey,
        scope_id: int,
        compute: Callable[[], HttpResponse],
        *,
        importance: Importance,
        revision_min: int = 0,
        common_headers: CommonHeaders = interface_headers,
    ) -> CachedResponse | HttpResponse:
        """Compute the response, or wait for the one that is being computed at the same revision.

        `compute` runs in a worker thread; `revision_min` is the lowest revision that the client accepts.
        Raises Overloaded.
        """
        revision = self._revision_of(scope_id)
        if revision == 0:
            revision = await self._find_revision(scope_id, importance)
        if revision_min > revision:
            revision = await self._workers.submit(importance, self._refresh, scope_id)
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

            pending = self._workers.submit(importance, encode)
            self._pending[key, revision] = pending
            pending.add_done_callback(lambda computed: self._store_result(key, revision, computed))
        # A client that disconnects must not cancel the response for the others.
        return await asyncio.shield(pending)

    async def compress(
        self, key: CacheKey, cached: CachedResponse, request_headers: dict[bytes, bytes]
    ) -> None:
        """Gzip lazily, on the first request that accepts it."""
        # Under overload the plain bytes are sent.
        if not needs_compression(cached, request_headers) or not self._workers.admits(Importance.VISITOR):
            return
        gzipped = await self._workers.submit(Importance.VISITOR, cached.compress)
        if cached.gzip_body is not None:
            return
        is_stored = self._cache.get(key) is cached
        if is_stored:
            self._cache.drop(key)
        cached.attach_gzip(gzipped)
        if is_stored:
            self._cache.store(key, cached)

    async def _find_revision(self, scope_id: int, importance: Importance) -> int:
        """The scope's revision from the database, read once for all that wait for it."""
        lookup = self._lookups.get(scope_id)
        if lookup is None:
            lookup = self._lookups[scope_id] = self._workers.submit(importance, self._refresh, scope_id)
            lookup.add_done_callback(lambda done: self._end_lookup(scope_id, done))
        return await asyncio.shield(lookup)

    def _end_lookup(self, scope_id: int, lookup: asyncio.Future[int]) -> None:
        del self._lookups[scope_id]
        # Retrieved, or Python would report the error as lost when all clients have gone meanwhile.
        lookup.cancelled() or lookup.exception()

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
