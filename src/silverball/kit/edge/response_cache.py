"""Encoded responses by path, query and viewer, each at one version of its scope.

Everything that can be prepared is prepared once, so that sending a cached response is a lookup. The
cache is bounded in bytes; the least recently used responses are dropped first.
"""

import gzip
import hashlib
from collections import OrderedDict
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from silverball.kit.http.asgi import CACHE_CONTROL, INTERFACE_HEADERS, Headers, body_message, encode_headers
from silverball.kit.http.endpoints import HttpResponse
from silverball.kit.http.query import IGNORED_HEADER
from silverball.kit.measures import UNCOUNTED

# Path, query string, and viewer: a viewer class or one user.
CacheKey = tuple[str, bytes, str]
# The headers that a response shares with its 304.
CommonHeaders = Callable[[HttpResponse], Headers]

GZIP_FROM_BYTES = 1024
GZIP_LEVEL = 6
# The estimated size of a response's header lists, their bytes, messages, key and cache entry.
OVERHEAD_BYTES = 3500
VARY = (b"vary", b"accept-encoding, authorization")


def interface_headers(response: HttpResponse) -> Headers:
    """The headers that all answers of the interface share, and the names of ignored parameters."""
    ignored = [header for header in response.headers if header[0] == IGNORED_HEADER]
    return [CACHE_CONTROL, VARY, *INTERFACE_HEADERS, *ignored]


class SharedHeaders(list[tuple[bytes, bytes]]):
    """Headers of a cached response, which are sent many times and so encoded once."""

    _encoded = b""

    def encoded(self) -> bytes:
        """The headers as they are sent."""
        if not self._encoded:
            self._encoded = encode_headers(self)
        return self._encoded


class CachedResponse:
    """A 200 ready to be sent: headers and body, plain and, once requested, gzipped."""

    __slots__ = (
        "body",
        "common_headers",
        "cost_bytes",
        "counts",
        "etag",
        "gzip_body",
        "gzip_headers",
        "headers",
        "is_throttled",
        "scope_id",
        "version",
    )

    def __init__(
        self,
        response: HttpResponse,
        *,
        scope_id: int,
        version: int,
        common_headers: CommonHeaders = interface_headers,
    ) -> None:
        self.scope_id = scope_id
        # Where answers with it are counted. Set when it is computed.
        self.counts = UNCOUNTED
        self.version = version
        self.is_throttled = response.is_throttled
        self.etag = b'W/"%s"' % hashlib.blake2b(response.body, digest_size=12).hexdigest().encode()
        # Sent with the response and with its 304.
        self.common_headers = SharedHeaders([(b"etag", self.etag), *common_headers(response)])
        content_type = (b"content-type", response.content_type.encode())
        own_headers = [header for header in response.headers if header not in self.common_headers]
        length = _content_length(response.body)
        self.headers = SharedHeaders([length, content_type, *own_headers, *self.common_headers])
        self.body = body_message(response.body)
        self.cost_bytes = OVERHEAD_BYTES + len(response.body)
        self.gzip_headers = self.headers
        # None until a client accepts gzip. A small body is never compressed.
        self.gzip_body = self.body if len(response.body) <= GZIP_FROM_BYTES else None

    def compress(self) -> bytes:
        """The gzipped body; slow for a large one."""
        return gzip.compress(self.body["body"], GZIP_LEVEL, mtime=0)

    def matches_etag(self, if_none_match: bytes) -> bool:
        """Whether a client with this If-None-Match has the response already."""
        return if_none_match == self.etag or names_etag(if_none_match, self.etag)

    def headers_and_body(self, request_headers: dict[bytes, bytes]) -> tuple[Headers, dict[str, Any]]:
        """Headers and body in the encoding that the client accepts."""
        if self.gzip_body is not None and accepts_gzip(request_headers.get(b"accept-encoding")):
            return self.gzip_headers, self.gzip_body
        return self.headers, self.body

    def attach_gzip(self, gzipped: bytes) -> None:
        """Add the gzipped body, unless it is no smaller than the plain one."""
        if len(gzipped) >= len(self.body["body"]):
            self.gzip_body = self.body
            return
        self.gzip_body = body_message(gzipped)
        length, encoding = _content_length(gzipped), (b"content-encoding", b"gzip")
        self.gzip_headers = SharedHeaders([length, encoding, *self.headers[1:]])
        self.cost_bytes += len(gzipped)


class ResponseCache:
    """Cached responses within a bound of bytes. Used by one thread only, so it needs no lock."""

    def __init__(self, bytes_max: int) -> None:
        self.bytes_max = bytes_max
        self.bytes_used = 0
        self._entries: OrderedDict[CacheKey, CachedResponse] = OrderedDict()
        self.get = self._entries.get
        self.touch = self._entries.move_to_end

    def __len__(self) -> int:
        return len(self._entries)

    def store(self, key: CacheKey, cached: CachedResponse) -> None:
        """Store a response in place of an older one; drop the least recently used ones to fit it."""
        cost_bytes = cached.cost_bytes + len(key[0]) + len(key[1])
        if cost_bytes > self.bytes_max:
            return
        self.drop(key)
        while self.bytes_used + cost_bytes > self.bytes_max:
            self.drop(next(iter(self._entries)))
        self._entries[key] = cached
        self.bytes_used += cost_bytes

    def drop(self, key: CacheKey) -> None:
        """Remove this response, if it is cached."""
        dropped = self._entries.pop(key, None)
        if dropped is not None:
            self.bytes_used -= dropped.cost_bytes + len(key[0]) + len(key[1])


@lru_cache(maxsize=256)
def accepts_gzip(accept_encoding: bytes | None) -> bool:
    """Whether this Accept-Encoding takes gzip: named, or `*`, and not with q=0."""
    if not accept_encoding or len(accept_encoding) > 500:
        return False
    accepted: dict[bytes, bool] = {}
    for part in accept_encoding.lower().split(b","):
        name, _, parameters = part.partition(b";")
        accepted[name.strip()] = not _is_zero(parameters)
    return accepted.get(b"gzip", accepted.get(b"x-gzip", accepted.get(b"*", False)))


def names_etag(if_none_match: bytes, etag: bytes) -> bool:
    """Whether an If-None-Match (a list, weak or strong, or `*`) names this tag."""
    if if_none_match.strip() == b"*":
        return True
    opaque = etag.removeprefix(b"W/")
    return any(tag.strip().removeprefix(b"W/") == opaque for tag in if_none_match.split(b","))


def _is_zero(parameters: bytes) -> bool:
    name, _, weight = parameters.partition(b"=")
    if name.strip() != b"q":
        return False
    try:
        return float(weight) == 0
    except ValueError:
        return True


def _content_length(body: bytes) -> tuple[bytes, bytes]:
    return (b"content-length", b"%d" % len(body))
