"""The types of ASGI, and the headers that answers of the interface share."""

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
AsgiApp = Callable[[Scope, Receive, Send], Awaitable[None]]
Headers = list[tuple[bytes, bytes]]

# Sent with every answer, so the server adds it: browsers shall not guess what a file is.
NO_SNIFFING = (b"x-content-type-options", b"nosniff")
CACHE_CONTROL = (b"cache-control", b"no-cache, private")
CORS: Headers = [
    (b"access-control-allow-origin", b"*"),
    (
        b"access-control-expose-headers",
        (
            b"ETag, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, Retry-After, Link,"
            b" X-Ignored-Parameters, X-Tournament-Revision, X-Tournament-Tag, Idempotency-Replayed,"
            b" Age"
        ),
    ),
]
# An answer that is opened as a page loads nothing, runs nothing and is in no frame.
NO_PAGE = (b"content-security-policy", b"default-src 'none'; base-uri 'none'; frame-ancestors 'none'")
# With every answer of the interface.
INTERFACE_HEADERS: Headers = [*CORS, NO_PAGE]
PREFLIGHT: Headers = [
    CORS[0],
    (b"access-control-allow-methods", b"*"),
    # The star does not cover Authorization.
    (b"access-control-allow-headers", b"*, Authorization"),
    (b"access-control-max-age", b"7200"),
    NO_PAGE,
]


def encode_headers(headers: Headers) -> bytes:
    """The headers as they are sent."""
    return b"".join([b"%b: %b\r\n" % header for header in headers])


def body_message(body: bytes) -> dict[str, Any]:
    """The last ASGI message of an answer; the same object can be sent any number of times."""
    return {"type": "http.response.body", "body": body}


def start_message(status: int, headers: Headers) -> dict[str, Any]:
    """The first ASGI message of an answer."""
    return {"type": "http.response.start", "status": status, "headers": headers}
