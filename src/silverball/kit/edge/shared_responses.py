"""Computes each response once for all clients that request it at the same version.

A response belongs to a scope and is valid as long as the scope's version stands.
"""

import asyncio
from collections.abc import Callable
from typing import NamedTuple

from silverball.kit.edge.backend import Backend
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

OUTDATED_SECONDS_MAX = 60.0


class OutdatedResponse(NamedTuple):
    """A response that held when the database was last asked; it is marked with its age."""

    response: CachedResponse
    seconds: float

    @property
    def age_header(self) -> tuple[bytes, bytes]:
        """The time since then."""
        return (b"age", b"%d" % self.seconds)


class SharedResponses:
    """The responses of one process, cached or being computed. Used by the event loop only."""

    def __init__(self, cache: ResponseCache, workers: WorkQueue, program: Backend) -> None:
        self._cache = cache
        self._workers = workers
        self._version_of = program.version_of
        self._refresh = program.refresh
        self._revision_in = program.revision_in
        self._outage_seconds = program.outage_seconds
        self._last_version_of = program.last_version_of
        # The versions that are not known here yet and are being read, by scope.
        self._lookups: dict[int, asyncio.Future[int]] = {}
        # The responses that are being computed, by key and version.
        self._pending: dict[tuple[CacheKey, int], asyncio.Future[CachedResponse | HttpResponse]] = {}

    def find_cached(self, key: CacheKey) -> CachedResponse | None:
        """The cached response, if its version is current."""
        cached = self._cache.get(key)
        if cached is None or cached.version != self._version_of(cached.scope_id):
            return None
        self._cache.touch(key)
        return cached

    def find_outdated(self, key: CacheKey) -> OutdatedResponse | None:
        """The cached response, if the database cannot be asked and it was current when that was last asked.

        A caller with a token gets it as long as the token is known, which is seconds; a visitor for a minute.
        """
        seconds = self._outage_seconds()
        if not 0 < seconds <= OUTDATED_SECONDS_MAX:
            return None
        cached = self._cache.get(key)
        if cached is None or cached.version != self._last_version_of(cached.scope_id):
            return None
        return OutdatedResponse(cached, seconds)

    def admits(self, key: CacheKey, scope_id: int, importance: Importance) -> bool:
        """Whether `load` takes this response on: there is room for it, or it is being computed."""
        if self._workers.admits(importance):
            return True
        version = self._version_of(scope_id)
        return (key, version) in self._pending or (not version and scope_id in self._lookups)

    def has_reached(self, revision_min: int, scope_id: int) -> bool:
        """Whether the scope is known to be at this revision or at a later one."""
        return not revision_min or self._revision_in(self._version_of(scope_id)) >= revision_min

    async def catch_up(self, scope_id: int, importance: Importance, revision_min: int = 0) -> None:
        """Ask the database for the scope's version, unless this revision is known already."""
        if not (revision_min and self.has_reached(revision_min, scope_id)):
            await self._workers.submit(importance, self._refresh, scope_id)

    async def load(
        self,
        key: CacheKey,
        scope_id: int,
        compute: Callable[[], HttpResponse],
        *,
        importance: Importance,
        revision_min: int = 0,
        is_behind: bool = False,
        common_headers: CommonHeaders = interface_headers,
    ) -> CachedResponse | HttpResponse:
        """Compute the response, or wait for the one that is being computed at the same version.

        `compute` runs in a worker thread; `revision_min` is the lowest revision that the client accepts,
        `is_behind` says that the client may have seen a newer one than is known here. Raises Overloaded.
        """
        version = self._version_of(scope_id)
        if version == 0 and not is_behind:
            version = await self._find_version(scope_id, importance)
        if is_behind or revision_min > self._revision_in(version):
            version = await self._workers.submit(importance, self._refresh, scope_id)
            cached = self.find_cached(key)
            if cached is not None:
                return cached
        pending = self._pending.get((key, version))
        if pending is None:

            def encode() -> CachedResponse | HttpResponse:
                response = compute()
                if response.status != 200:
                    return response
                # Version 0 marks a response that must not be cached.
                valid_at = version if response.is_cacheable else 0
                return CachedResponse(
                    response, scope_id=scope_id, version=valid_at, common_headers=common_headers
                )

            pending = self._workers.submit(importance, encode)
            self._pending[key, version] = pending
            pending.add_done_callback(lambda computed: self._store_result(key, version, computed))
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

    async def _find_version(self, scope_id: int, importance: Importance) -> int:
        """The scope's version from the database, read once for all that wait for it."""
        lookup = self._lookups.get(scope_id)
        if lookup is None:
            lookup = self._lookups[scope_id] = self._workers.submit(importance, self._refresh, scope_id)
            lookup.add_done_callback(lambda done: self._end_lookup(scope_id, done))
        return await asyncio.shield(lookup)

    def _end_lookup(self, scope_id: int, lookup: "asyncio.Future[int]") -> None:
        del self._lookups[scope_id]
        # Retrieved, or Python would report the error as lost when all clients have gone meanwhile.
        lookup.cancelled() or lookup.exception()

    def _store_result(
        self, key: CacheKey, version: int, computed: "asyncio.Future[CachedResponse | HttpResponse]"
    ) -> None:
        del self._pending[key, version]
        if computed.cancelled() or computed.exception() is not None:
            return
        result = computed.result()
        if isinstance(result, CachedResponse) and result.version:
            self._cache.store(key, result)


def needs_compression(cached: CachedResponse, request_headers: dict[bytes, bytes]) -> bool:
    """Whether the client accepts gzip and the response has not been compressed yet."""
    return (
        cached.gzip_body is None
        and accepts_gzip(request_headers.get(b"accept-encoding"))
        and request_headers.get(b"if-none-match") != cached.etag
    )
