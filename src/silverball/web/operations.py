"""Routes for the people and programs that operate the server.

Health, readiness, AsyncAPI and security.txt are on the public port, metrics on one of their own.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime, timedelta

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from silverball.feed.feed import FeedService
from silverball.kit.errors import ServiceUnavailable
from silverball.kit.http.refusals import refusal_response
from silverball.kit.threads import is_refused_thread
from silverball.web import published

# RFC 9116 asks for less than a year. The answer is made anew each time, so the date is always ahead.
SECURITY_TEXT_LASTS = timedelta(days=180)
CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
# Returns all metrics as text.
Expose = Callable[[], Awaitable[bytes]]


def routes(
    check: Callable[[], bool], feed: FeedService, asyncapi_document: Callable[[], bytes]
) -> list[BaseRoute]:
    """The routes of one process."""

    async def up(_request: Request) -> Response:
        return _json(b'{"status":"up"}')

    # A thread for each visitor who asks at the same time would cost memory.
    checking = asyncio.Lock()

    async def ready(_request: Request) -> Response:
        async with checking:
            try:
                is_ready = await asyncio.to_thread(check)
            except RuntimeError as error:
                if not is_refused_thread(error):
                    raise
                is_ready = False
        if not is_ready:
            refusal = refusal_response(ServiceUnavailable())
            answer = _json(refusal.body, refusal.status)
            answer.raw_headers += refusal.headers
            return answer
        connections_left = feed.feed.limits.connections_max - feed.hub.metrics.connections
        return _json(b'{"status":"ready","connectionsLeft":%d}' % max(0, connections_left))

    return [
        Route("/up", up),
        Route("/ready", ready),
        Route("/asyncapi.json", published.PublishedJson(asyncapi_document).response),
    ]


def metrics_app(expose: Expose) -> Starlette:
    """Return the application of the metrics' own port."""

    async def metrics(_request: Request) -> Response:
        return Response(await expose(), headers={"content-type": CONTENT_TYPE})

    app = Starlette(routes=[Route("/metrics", metrics)])
    app.router.redirect_slashes = False
    return app


def security_text_routes(
    contacts: Sequence[str],
    base_url: str,
    now: Callable[[], datetime] = lambda: datetime.now(UTC),
) -> list[BaseRoute]:
    """Return the route of security.txt (RFC 9116); none without a contact."""
    if not contacts:
        return []
    path = "/.well-known/security.txt"

    def security_text(_request: Request) -> Response:
        expires = (now() + SECURITY_TEXT_LASTS).replace(hour=0, minute=0, second=0, microsecond=0)
        lines = [f"Contact: {contact}" for contact in contacts]
        lines.append(f"Expires: {expires:%Y-%m-%dT%H:%M:%SZ}")
        if base_url.startswith("https://"):
            lines.append(f"Canonical: {base_url}{path}")
        return Response("\n".join(lines) + "\n", media_type="text/plain")

    return [Route(path, security_text)]


def _json(body: bytes, status: int = 200) -> Response:
    return Response(body, status, media_type="application/json")
