"""Routes for the people and programs that operate the server.

Health, readiness, AsyncAPI and security.txt are on the public port, metrics on one of their own.
"""

import asyncio
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from silverball.feed import prometheus
from silverball.feed.feed import FeedService
from silverball.kit.errors import ServiceUnavailable
from silverball.kit.http.refusals import refusal_response
from silverball.store import migrate
from silverball.store.engine import Store
from silverball.web import published

# RFC 9116 asks for less than a year. The answer is made anew each time, so the date is always ahead.
SECURITY_TEXT_LASTS = timedelta(days=180)


def routes(store: Store, feed: FeedService, asyncapi_document: Callable[[], bytes]) -> list[BaseRoute]:
    """The routes of one process."""

    def up(_request: Request) -> Response:
        return _json(b'{"status":"up"}')

    # A connection of the database for each visitor who asks at the same time would cost memory.
    checking = asyncio.Lock()

    async def ready(_request: Request) -> Response:
        async with checking:
            is_ready = await run_in_threadpool(migrate.is_ready, store)
        if not is_ready:
            refusal = refusal_response(ServiceUnavailable())
            return _json(refusal.body, refusal.status)
        connections_left = feed.feed.limits.connections_max - feed.hub.metrics.connections
        return _json(b'{"status":"ready","connectionsLeft":%d}' % max(0, connections_left))

    return [
        Route("/up", up),
        Route("/ready", ready),
        Route("/asyncapi.json", published.PublishedJson(asyncapi_document).response),
    ]


def metrics_app(feed: FeedService) -> Starlette:
    """Return the application of the metrics' own port."""

    async def metrics(_request: Request) -> Response:
        # On the event loop, which is where the numbers change.
        text = prometheus.exposition(
            feed.hub.metrics, waiting=feed.relay.waiting_count, unsent_bytes=feed.feed.unsent_bytes
        )
        return Response(text, headers={"content-type": prometheus.CONTENT_TYPE})

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
