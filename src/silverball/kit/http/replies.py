"""Answers, ready to be sent: status, headers and body."""

from typing import Any

from msgspec import Struct

from silverball.kit.http.asgi import CACHE_CONTROL, CORS, Headers, body_message, start_message
from silverball.kit.http.endpoints import HttpResponse

EMPTY_BODY = body_message(b"")


class Reply(Struct, frozen=True):
    """An answer, ready to be sent."""

    status: int
    # The headers of the response itself: for a cached response the same list each time.
    headers: Headers
    # Those of this request.
    extra: Headers
    # The ASGI message with the body.
    body: dict[str, Any]

    def start(self) -> dict[str, Any]:
        """Return the ASGI message with status and headers."""
        return start_message(self.status, [*self.headers, *self.extra])


def uncached_reply(response: HttpResponse, method: str, extra: Headers) -> Reply:
    """Return a reply that is not cached: a refusal, or the answer to a write."""
    headers = [
        (b"content-type", response.content_type.encode()),
        (b"content-length", b"%d" % len(response.body)),
        CACHE_CONTROL,
        *CORS,
        *response.headers,
    ]
    body = EMPTY_BODY if method == "HEAD" else body_message(response.body)
    return Reply(response.status, headers, extra, body)
