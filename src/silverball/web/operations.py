"""Routes for the people and programs that operate the server: health, readiness, metrics, AsyncAPI."""

from collections.abc import Callable

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from silverball.feed import prometheus
from silverball.feed.feed import FeedService
from silverball.kit.errors import ServiceUnavailable
from silverball.kit.http.refusals import refusal_response
from silverball.store import migrate
from silverball.store.engine import Store


def routes(store: Store, feed: FeedService, asyncapi_document: Callable[[], bytes]) -> list[BaseRoute]:
    """The routes of one process."""

    def up(_request: Request) -> Response:
        return _json(b'{"status":"up"}')

    def ready(_request: Request) -> Response:
        if not migrate.is_ready(store):
            refusal = refusal_response(ServiceUnavailable())
            return _json(refusal.body, refusal.status)
        connections_left = feed.feed.limits.connections_max - feed.hub.metrics.connections
        return _json(b'{"status":"ready","connectionsLeft":%d}' % max(0, connections_left))

    def metrics(_request: Request) -> Response:
        text = prometheus.exposition(
            feed.hub.metrics, waiting=feed.relay.waiting_count, unsent_bytes=feed.feed.unsent_bytes
        )
        return Response(text, headers={"content-type": prometheus.CONTENT_TYPE})

    def asyncapi(_request: Request) -> Response:
        open_to_all = {"access-control-allow-origin": "*"}
        return Response(asyncapi_document(), media_type="application/json", headers=open_to_all)

    return [
        Route("/up", up),
        Route("/ready", ready),
        Route("/metrics", metrics),
        Route("/asyncapi.json", asyncapi),
    ]


def _json(body: bytes, status: int = 200) -> Response:
    return Response(body, status, media_type="application/json")
