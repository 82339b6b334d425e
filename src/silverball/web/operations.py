"""Routes for the people and programs that operate the server.

Health, readiness, AsyncAPI and security.txt are on the public port, metrics on one of their own.
"""

import asyncio
import gzip
import threading
from collections.abc import Awaitable, Callable, Iterator
from datetime import UTC, datetime, timedelta
from functools import cached_property
from typing import TYPE_CHECKING

import msgspec
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

import silverball
from silverball.feed.feed import FeedService
from silverball.feed.metrics import feed_families
from silverball.kit.edge.connections import ConnectionTable
from silverball.kit.edge.front import FrontDoor
from silverball.kit.edge.response_cache import accepts_gzip, names_etag
from silverball.kit.errors import ServiceUnavailable
from silverball.kit.http.asgi import NO_PAGE
from silverball.kit.http.refusals import refusal_response
from silverball.kit.measures import Histogram
from silverball.kit.threads import is_refused_thread
from silverball.store.database.engine import Store
from silverball.store.people import encryption, site_details
from silverball.web import site

GZIP_LEVEL = 9
NO_PAGE_HEADER = {NO_PAGE[0].decode(): NO_PAGE[1].decode()}


class PublishedJson:
    """A JSON document, built when it is first asked for: sent compressed, with an ETag, to anyone."""

    def __init__(self, build: Callable[[], bytes], headers: dict[str, str] | None = None) -> None:
        self._build = build
        self._own_headers = headers or {}

    @cached_property
    def body(self) -> bytes:
        return self._build()

    @cached_property
    def gzip_body(self) -> bytes:
        return gzip.compress(self.body, GZIP_LEVEL, mtime=0)

    @cached_property
    def headers(self) -> dict[str, str]:
        return {
            **self._own_headers,
            # Weak, because the compressed and the plain text share it.
            "etag": f'W/"{site.content_digest([self.body])}"',
            "cache-control": "no-cache",
            "vary": "accept-encoding",
            "access-control-allow-origin": "*",
            "access-control-expose-headers": "etag",
            **NO_PAGE_HEADER,
        }

    def response(self, request: Request) -> Response:
        """Return the document, or 304 to a client that has it."""
        known = request.headers.get("if-none-match", "").encode("latin-1")
        if names_etag(known, self.headers["etag"].encode()):
            return Response(status_code=304, headers=self.headers)
        if accepts_gzip(request.headers.get("accept-encoding", "").encode("latin-1")):
            headers = {**self.headers, "content-encoding": "gzip"}
            return Response(self.gzip_body, media_type="application/json", headers=headers)
        return Response(self.body, media_type="application/json", headers=self.headers)


# RFC 9116 asks for less than a year. The answer is made anew each time, so the date is always ahead.
SECURITY_TEXT_LASTS = timedelta(days=180)
CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
# Returns all metrics as text.
Expose = Callable[[], Awaitable[bytes]]


def routes(
    check: Callable[[], bool], feed: FeedService, store: Store, asyncapi_document: Callable[[], bytes]
) -> list[BaseRoute]:
    """The routes of one process."""

    async def up(_request: Request) -> Response:
        return _json(b'{"status":"up","version":"%b"}' % silverball.__version__.encode())

    # A thread for each visitor who asks at the same time would cost memory.
    checking = asyncio.Lock()

    async def ready(_request: Request) -> Response:
        async with checking:
            try:
                is_ready = await asyncio.to_thread(check)
                lacks_key = is_ready and await asyncio.to_thread(_lacks_key, store)
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
        values = {"status": "ready", "connectionsLeft": max(0, connections_left)}
        if lacks_key:
            values |= {"status": "degraded", "message": f"{encryption.OFF_WITHOUT_KEY}."}
        return _json(msgspec.json.encode(values))

    return [
        Route("/up", up),
        Route("/ready", ready),
        Route("/asyncapi.json", PublishedJson(asyncapi_document).response),
    ]


def _lacks_key(store: Store) -> bool:
    with store.read() as db:
        return encryption.missing_key(db) is not None


def metrics_app(expose: Expose) -> Starlette:
    """Return the application of the metrics' own port."""

    async def metrics(_request: Request) -> Response:
        return Response(await expose(), headers={"content-type": CONTENT_TYPE})

    app = Starlette(routes=[Route("/metrics", metrics)])
    app.router.redirect_slashes = False
    return app


def security_text_routes(
    store: Store, base_url: str, now: Callable[[], datetime] = lambda: datetime.now(UTC)
) -> list[BaseRoute]:
    """Return the route of security.txt (RFC 9116), which is not there without a contact."""
    path = "/.well-known/security.txt"

    def security_text(_request: Request) -> Response:
        with store.read() as db:
            contact = site_details.find_site_details(db).contact_link
        if not contact:
            return Response("Not Found\n", 404, media_type="text/plain")
        expires = (now() + SECURITY_TEXT_LASTS).replace(hour=0, minute=0, second=0, microsecond=0)
        lines = [f"Contact: {contact}", f"Expires: {expires:%Y-%m-%dT%H:%M:%SZ}"]
        if base_url.startswith("https://"):
            lines.append(f"Canonical: {base_url}{path}")
        return Response("\n".join(lines) + "\n", headers=NO_PAGE_HEADER, media_type="text/plain")

    return [Route(path, security_text)]


def _json(body: bytes, status: int = 200) -> Response:
    return Response(body, status, NO_PAGE_HEADER, "application/json")


if TYPE_CHECKING:
    from prometheus_client.metrics_core import Metric


class SiteMetrics:
    """The part of `/metrics` that is about one process."""

    def __init__(
        self,
        front_door: FrontDoor,
        feed: FeedService,
        store: Store,
        connections: ConnectionTable,
    ) -> None:
        self.measures = front_door.measures
        self._front_door = front_door
        self._feed = feed
        self._store = store
        self._connections = connections
        self._is_ready = False

    async def expose(self) -> bytes:
        """All metrics as text."""
        is_ready = await asyncio.to_thread(self.measures.is_ready)
        # On the event loop, which is where most numbers change.
        return self.exposition(is_ready=is_ready)

    def exposition(self, *, is_ready: bool) -> bytes:
        """All metrics as text."""
        from prometheus_client import CollectorRegistry, ProcessCollector, generate_latest

        registry = CollectorRegistry(auto_describe=False)
        registry.register(self)
        # Processor time, memory, files and the time of the start, as of any process.
        ProcessCollector(registry=registry)
        self._is_ready = is_ready
        return generate_latest(registry)

    def collect(self) -> "Iterator[Metric]":
        """Yield all metrics, for Prometheus' library."""
        feed = self._feed
        yield from feed_families(
            feed.hub.metrics, waiting=feed.relay.waiting_count, unsent_bytes=feed.feed.unsent_bytes
        )
        yield from self._process()
        yield from self._requests()
        yield from self._front()
        yield from self._database()
        yield from self._jobs()
        yield from self._webhooks()
        yield from self._mirrors()

    def _process(self) -> "Iterator[Metric]":
        from prometheus_client.core import InfoMetricFamily

        version = {"version": silverball.__version__}
        yield InfoMetricFamily("silverball_build", "The version of the program.", value=version)
        yield _gauge("ready", "1 if the database answers and can be written to.", self._is_ready)
        yield _gauge("threads", "Threads of the process.", threading.active_count())
        is_shared = self._front_door.are_counts_shared
        yield _gauge("counts_shared", "1 if allowances are counted with the other processes.", is_shared)

    def _requests(self) -> "Iterator[Metric]":
        from prometheus_client.core import CounterMetricFamily, HistogramMetricFamily

        answered = CounterMetricFamily(
            "silverball_http_requests", "Answered requests.", labels=["method", "route", "status"]
        )
        found = CounterMetricFamily(
            "silverball_http_answers_from_memory",
            "Answers that needed neither a thread nor the database.",
            labels=["method", "route"],
        )
        seconds = HistogramMetricFamily(
            "silverball_http_request_seconds",
            "Time to the answer; those from memory count in the first bucket.",
            labels=["method", "route"],
        )
        for labels, counts in sorted(self.measures.requests.routes.items()):
            in_memory = counts.found + counts.unchanged
            for status, number in counts.by_status.items():
                answered.add_metric([*labels, status], number)
            found.add_metric(labels, in_memory)
            buckets = counts.seconds.cumulative_counts(at_once=in_memory)
            seconds.add_metric(labels, buckets, counts.seconds.sum)
        yield from (answered, found, seconds)
        requests = self.measures.requests
        yield _counter("http_unavailable", "Answers with 503 that were computed.", requests.unavailable)
        yield _counter("http_shed", "Requests refused because too many waited.", requests.shed)
        yield _counter("http_turned_away", "Requests beyond an allowance.", requests.turned_away)

    def _front(self) -> "Iterator[Metric]":
        from prometheus_client.core import GaugeMetricFamily

        waiting = GaugeMetricFamily(
            "silverball_http_waiting", "Requests that wait for a thread.", labels=["queue"]
        )
        for queue, number in self._front_door.waiting.items():
            waiting.add_metric([queue], number)
        yield waiting
        yield _gauge("http_connections", "Open connections, sockets included.", len(self._connections))
        refused = "Connections beyond the limit of an address or of the process."
        yield _counter("http_connections_refused", refused, self._connections.refused)
        yield _gauge("cache_answers", "Answers in memory.", len(self._front_door.cache))
        yield _gauge("cache_bytes", "Memory of the answers in memory.", self._front_door.cache.bytes_used)

    def _database(self) -> "Iterator[Metric]":
        measures, pool = self._store.measures, self._store.engine.pool
        in_use, size = getattr(pool, "checkedout", int)(), getattr(pool, "size", int)()
        yield _gauge("database_connections", "Connections of the pool that are kept.", size)
        yield _gauge("database_connections_in_use", "Connections of the pool in use.", in_use)
        yield _gauge("database_connections_waiting", "Threads that wait for one.", measures.waiting)
        yield _counter("database_commits", "Committed transactions.", measures.commits)
        yield _counter("database_rollbacks", "Transactions that were rolled back.", measures.rollbacks)
        for name, meaning, histogram in (
            ("connection_wait", "Time until a connection of the pool is there.", measures.connection_seconds),
            ("lock_wait", "Time until a writer has the lock.", measures.lock_seconds),
            ("write", "Time of whole transactions that write.", measures.write_seconds),
        ):
            yield _histogram(f"database_{name}_seconds", meaning, histogram)

    def _jobs(self) -> "Iterator[Metric]":
        from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily

        runs = CounterMetricFamily("silverball_job_runs", "Runs of a job.", labels=["job"])
        failures = CounterMetricFamily("silverball_job_failures", "Failed runs.", labels=["job"])
        succeeded = GaugeMetricFamily(
            "silverball_job_last_success_timestamp_seconds", "Last success; 0 before.", labels=["job"]
        )
        seconds = GaugeMetricFamily(
            "silverball_job_last_success_seconds", "Duration of the last success.", labels=["job"]
        )
        for name, job in sorted(self.measures.jobs.items()):
            runs.add_metric([name], job.runs)
            failures.add_metric([name], job.failures)
            succeeded.add_metric([name], job.succeeded_at)
            seconds.add_metric([name], job.seconds)
        yield from (runs, failures, succeeded, seconds)

    def _webhooks(self) -> "Iterator[Metric]":
        from prometheus_client.core import CounterMetricFamily

        webhooks = self.measures.webhooks
        yield _gauge("webhook_backlog", "Messages of the site that are due.", webhooks.waiting)
        oldest = "How long the first of them has been due."
        yield _gauge("webhook_backlog_oldest_seconds", oldest, webhooks.oldest_seconds)
        tried = CounterMetricFamily(
            "silverball_webhook_deliveries", "Messages that were sent, by result.", labels=["result"]
        )
        tried.add_metric(["delivered"], webhooks.delivered)
        tried.add_metric(["failed"], webhooks.failed)
        yield tried

    def _mirrors(self) -> "Iterator[Metric]":
        from prometheus_client.core import GaugeMetricFamily

        # A host is what the operator typed, so there are few.
        hosts = sorted(self.measures.mirrors.items())
        for name, meaning, field in (
            ("mirrors", "Running tournaments that another service runs.", "mirrors"),
            ("mirrors_lost", "Those whose service does not answer.", "lost"),
            ("mirrors_different", "Those whose standings differ from those there.", "different"),
            ("mirror_lag_median_seconds", "From an event there to its announcement here.", "median_seconds"),
            ("mirror_lag_p99_seconds", "The same, of the slowest hundredth.", "p99_seconds"),
        ):
            family = GaugeMetricFamily(f"silverball_{name}", meaning, labels=["host"])
            for host, measured in hosts:
                family.add_metric([host], getattr(measured, field))
            yield family


def _gauge(name: str, meaning: str, value: float) -> "Metric":
    from prometheus_client.core import GaugeMetricFamily

    return GaugeMetricFamily(f"silverball_{name}", meaning, value=value)


def _counter(name: str, meaning: str, value: float) -> "Metric":
    from prometheus_client.core import CounterMetricFamily

    return CounterMetricFamily(f"silverball_{name}", meaning, value=value)


def _histogram(name: str, meaning: str, histogram: Histogram) -> "Metric":
    from prometheus_client.core import HistogramMetricFamily

    buckets = histogram.cumulative_counts()
    return HistogramMetricFamily(f"silverball_{name}", meaning, buckets=buckets, sum_value=histogram.sum)
