"""The counters of the feed, as plain numbers."""

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

from msgspec import Struct, field

from silverball.kit.measures import Histogram


class FeedMetrics(Struct):
    """The counters of one hub since its start, and the gauges connections, subscriptions and lagging."""

    connections: int = 0
    subscriptions: int = 0
    lagging: int = 0
    connections_total: int = 0
    refused_total: int = 0
    events_total: int = 0
    deliveries_total: int = 0
    conflated_total: int = 0
    slow_closes_total: int = 0
    resumes_recovered_total: int = 0
    resumes_lost_total: int = 0
    pings_total: int = 0
    closes_total: Counter[int] = field(default_factory=Counter)
    # From the time of a change until its event was written to the last subscriber's socket.
    delivery_seconds: Histogram = field(default_factory=Histogram)
    # The relay's delay behind the announcements; kept up to date by the relay.
    relay_lag_seconds: float = 0.0


if TYPE_CHECKING:
    from prometheus_client.metrics_core import Metric

GAUGES = {
    "connections": "Open sockets.",
    "subscriptions": "Subscriptions of all sockets together.",
    "lagging": "Sockets that read more slowly than events are published.",
    "relay_lag_seconds": "Age of the newest published announcement when it was published.",
}
COUNTERS = {
    "connections_total": "Sockets that were opened.",
    "refused_total": "Sockets that were refused.",
    "events_total": "Events that were published.",
    "deliveries_total": "Events that were written to a socket.",
    "conflated_total": "Events skipped for a slow client because a newer one replaced them.",
    "slow_closes_total": "Sockets that were closed because they read too slowly.",
    "resumes_recovered_total": "Resumes that got all missed events.",
    "resumes_lost_total": "Resumes that had to read the tournament again.",
    "pings_total": "Pings that were sent.",
}


def feed_families(metrics: FeedMetrics, *, waiting: int, unsent_bytes: int) -> "Iterator[Metric]":
    """Yield the metrics of the feed.

    `waiting` counts the long-polls and event streams, `unsent_bytes` the bytes queued for sockets.
    """
    from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily

    for name, meaning in GAUGES.items():
        yield GaugeMetricFamily(f"silverball_feed_{name}", meaning, value=getattr(metrics, name))
    yield GaugeMetricFamily(
        "silverball_feed_waiting", "Long-polls and event streams that wait.", value=waiting
    )
    yield GaugeMetricFamily(
        "silverball_feed_unsent_bytes", "Bytes that are queued for sockets.", value=unsent_bytes
    )
    for name, meaning in COUNTERS.items():
        yield CounterMetricFamily(f"silverball_feed_{name}", meaning, value=getattr(metrics, name))
    closes = CounterMetricFamily(
        "silverball_feed_closes", "Sockets closed by the server, by code.", labels=["code"]
    )
    for code, count in sorted(metrics.closes_total.items()):
        closes.add_metric([str(code)], count)
    yield closes
    yield HistogramMetricFamily(
        "silverball_feed_delivery_seconds",
        "Time from a change to the last subscriber's socket.",
        buckets=metrics.delivery_seconds.cumulative_counts(),
        sum_value=metrics.delivery_seconds.sum,
    )
