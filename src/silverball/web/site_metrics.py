"""All metrics of one process in Prometheus' text format."""

import asyncio
import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING

import silverball
from silverball.feed.feed import FeedService
from silverball.feed.prometheus import feed_families
from silverball.kit.edge.connections import ConnectionTable
from silverball.kit.edge.front import FrontDoor
from silverball.kit.measures import Histogram
from silverball.store.engine import Store

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
