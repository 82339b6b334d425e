"""Finished answers: everything that can be prepared once is, so that sending one is a lookup.

Kept by path, query and viewer class at a revision; a newer revision makes them worthless. Memory is
bounded in bytes, and what was not asked for longest goes first.
"""

import gzip
import hashlib
from collections import OrderedDict
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from silverball.kit.http.endpoints import HttpResponse

Headers = list[tuple[bytes, bytes]]
# Path, query string, and for whom: a viewer class, or one user.
CacheKey = tuple[str, bytes, str]
# The headers that every answer of a kind has, a 304 too; they may follow from the answer.
CommonHeaders = Callable[[HttpResponse], Headers]

GZIP_FROM_BYTES = 1024
GZIP_LEVEL = 6
# Two header lists, two messages, the key and the entries that hold them.
OVERHEAD_BYTES = 2500
CACHE_CONTROL = (b"cache-control", b"no-cache, private")
VARY = (b"vary", b"accept-encoding, authorization")
CORS: Headers = [
    (b"access-control-allow-origin", b"*"),
    (
        b"access-control-expose-headers",
        (
            b"ETag, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, Retry-After, Link,"
            b" X-Tournament-Revision, Idempotency-Replayed"
        ),
    ),
]


PREFLIGHT: Headers = [
    CORS[0],
    (b"access-control-allow-methods", b"*"),
    # The star does not cover Authorization.
    (b"access-control-allow-headers", b"*, Authorization"),
    (b"access-control-max-age", b"7200"),
]
NOT_FOUND = b'{"message":"Not found."}'
TOO_MANY_REQUESTS = HttpResponse(429, b'{"message":"Too Many Attempts."}')
BODY_TOO_LARGE = HttpResponse(413, b'{"message":"The POST data is too large."}')


def interface_headers(_answer: HttpResponse) -> Headers:
    """What every answer of the interface has in common."""
    return [CACHE_CONTROL, VARY, *CORS]


class CachedResponse:
    """A 200 as it goes out: headers and body, plain and, once somebody takes it so, compressed."""

    __slots__ = (
        "body",
        "cost",
        "etag",
        "gzip_body",
        "gzip_headers",
        "headers",
        "is_paced",
        "revision",
        "same_headers",
        "scope_id",
    )

    def __init__(
        self,
        answer: HttpResponse,
        *,
        scope_id: int,
        revision: int,
        common_headers: CommonHeaders = interface_headers,
    ) -> None:
        self.scope_id = scope_id
        self.revision = revision
        self.is_paced = answer.is_throttled
        self.etag = b'W/"%s"' % hashlib.blake2b(answer.body, digest_size=12).hexdigest().encode()
        self.same_headers: Headers = [(b"etag", self.etag), *common_headers(answer)]
        typed = (b"content-type", answer.content_type.encode())
        own = [header for header in answer.headers if header not in self.same_headers]
        self.headers = [_content_length(answer.body), typed, *own, *self.same_headers]
        self.body = body_message(answer.body)
        self.cost = OVERHEAD_BYTES + len(answer.body)
        self.gzip_headers = self.headers
        # None: nobody took it compressed so far. What is small is never compressed.
        self.gzip_body = self.body if len(answer.body) <= GZIP_FROM_BYTES else None

    def compress(self) -> bytes:
        """The body compressed; this takes a while."""
        return gzip.compress(self.body["body"], GZIP_LEVEL, mtime=0)

    def matches_etag(self, asked: bytes | None) -> bool:
        """Whether who sends this If-None-Match has the answer already."""
        return asked is not None and (asked == self.etag or names_etag(asked, self.etag))

    def headers_and_body(self, headers: dict[bytes, bytes]) -> tuple[Headers, dict[str, Any]]:
        """Headers and body as whoever sends these headers takes them."""
        if self.gzip_body is not None and accepts_gzip(headers.get(b"accept-encoding")):
            return self.gzip_headers, self.gzip_body
        return self.headers, self.body

    def attach_gzip(self, packed: bytes) -> None:
        """Keep the compressed body beside the plain one, unless it is no smaller."""
        if len(packed) >= len(self.body["body"]):
            self.gzip_body = self.body
            return
        self.gzip_body = body_message(packed)
        self.gzip_headers = [_content_length(packed), (b"content-encoding", b"gzip"), *self.headers[1:]]
        self.cost += len(packed)


class ResponseCache:
    """The finished answers at hand. Touched by one thread only, so it needs no lock."""

    def __init__(self, bytes_max: int) -> None:
        self.bytes_max = bytes_max
        self.bytes_used = 0
        self._entries: OrderedDict[CacheKey, CachedResponse] = OrderedDict()
        self.get = self._entries.get
        self.touch = self._entries.move_to_end

    def __len__(self) -> int:
        return len(self._entries)

    def store(self, key: CacheKey, finished: CachedResponse) -> None:
        """Keep this answer in place of an older one; the least recently used ones make room."""
        cost = finished.cost + len(key[0]) + len(key[1])
        if cost > self.bytes_max:
            return
        self.drop(key)
        while self.bytes_used + cost > self.bytes_max:
            self.drop(next(iter(self._entries)))
        self._entries[key] = finished
        self.bytes_used += cost

    def drop(self, key: CacheKey) -> None:
        """Forget this answer."""
        old = self._entries.pop(key, None)
        if old is not None:
            self.bytes_used -= old.cost + len(key[0]) + len(key[1])


def body_message(body: bytes) -> dict[str, Any]:
    """The second ASGI message of an answer; the same one is sent every time."""
    return {"type": "http.response.body", "body": body}


@lru_cache(maxsize=256)
def accepts_gzip(accept_encoding: bytes | None) -> bool:
    """Whether this Accept-Encoding takes gzip: named, or `*`, and not with q=0."""
    if not accept_encoding or len(accept_encoding) > 500:
        return False
    weights: dict[bytes, bool] = {}
    for part in accept_encoding.lower().split(b","):
        name, _, parameters = part.partition(b";")
        weights[name.strip()] = not _is_zero(parameters)
    return weights.get(b"gzip", weights.get(b"x-gzip", weights.get(b"*", False)))


def names_etag(if_none_match: bytes, etag: bytes) -> bool:
    """Whether an If-None-Match (a list, weak or strong, or `*`) names this tag."""
    if if_none_match.strip() == b"*":
        return True
    opaque = etag.removeprefix(b"W/")
    return any(one.strip().removeprefix(b"W/") == opaque for one in if_none_match.split(b","))


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
