"""Cached responses that leave although the database cannot be asked whether they still hold.

They are marked with their age. A caller with a token gets them as long as the token is known, which is
seconds; a visitor for a minute.
"""

from typing import NamedTuple

from silverball.kit.edge.backend import Backend
from silverball.kit.edge.response_cache import CachedResponse, CacheKey, ResponseCache

OUTDATED_SECONDS_MAX = 60.0


class OutdatedResponse(NamedTuple):
    """A response that held when the database was last asked."""

    response: CachedResponse
    seconds: float

    @property
    def age_header(self) -> tuple[bytes, bytes]:
        """The time since then."""
        return (b"age", b"%d" % self.seconds)


class OutdatedResponses:
    """The cached responses of one process, while the database cannot be asked."""

    def __init__(self, program: Backend, cache: ResponseCache) -> None:
        self._outage_seconds = program.outage_seconds
        self._last_version_of = program.last_version_of
        self._cache = cache

    def find(self, key: CacheKey) -> OutdatedResponse | None:
        """The cached response, if it was current when the database was last asked."""
        seconds = self._outage_seconds()
        if not 0 < seconds <= OUTDATED_SECONDS_MAX:
            return None
        cached = self._cache.get(key)
        if cached is None or cached.version != self._last_version_of(cached.scope_id):
            return None
        return OutdatedResponse(cached, seconds)
