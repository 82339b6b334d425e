"""The numbers of the feed in the format that Prometheus reads."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from silverball.feed.metrics import FeedMetrics

if TYPE_CHECKING:
    from prometheus_client.metrics_core import Metric

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
GAUGES = {
    "connections": "Sockets that are open.",
    "subscriptions": "Channels that they follow, summed.",
    "lagging": "Sockets that read more slowly than events come.",
    "relay_lag_seconds": "Time from the newest published announcement to its publishing.",
}
COUNTERS = {
    "connections_total": "Sockets that were opened.",
    "refused_total": "Sockets that were refused.",
    "events_total": "Events that were published.",
    "deliveries_total": "Events that were written to a socket.",
    "conflated_total": "Events that were left out for a slow reader because a newer one replaced them.",
    "slow_closes_total": "Sockets that were closed because they read too slowly.",
    "resumes_recovered_total": "Followers who came back and were told everything that they had missed.",
    "resumes_lost_total": "Followers who came back and had to read everything again.",
    "pings_total": "Pings that were sent.",
}


def exposition(metrics: FeedMetrics, *, waiting: int, unsent_bytes: int) -> bytes:
    """All numbers, as text.

    Takes how many wait over plain HTTP, and how many bytes wait for the sockets.
    """
    from prometheus_client import CollectorRegistry, generate_latest

    class Numbers:
        def collect(self) -> "Iterator[Metric]":
            return _metric_families(metrics, waiting, unsent_bytes)

    registry = CollectorRegistry(auto_describe=False)
    registry.register(Numbers())
    return generate_latest(registry)


def _metric_families(metrics: FeedMetrics, waiting: int, unsent_bytes: int) -> "Iterator[Metric]":
    from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily

    for name, meaning in GAUGES.items():
        yield GaugeMetricFamily(f"silverball_feed_{name}", meaning, value=getattr(metrics, name))
    yield GaugeMetricFamily(
        "silverball_feed_waiting", "Pages and streams that wait for events.", value=waiting
    )
    yield GaugeMetricFamily(
        "silverball_feed_unsent_bytes", "Bytes that wait for sockets to take them.", value=unsent_bytes
    )
    for name, meaning in COUNTERS.items():
        yield CounterMetricFamily(f"silverball_feed_{name}", meaning, value=getattr(metrics, name))
    closes = CounterMetricFamily(
        "silverball_feed_closes", "Sockets closed from here, by code.", labels=["code"]
    )
    for code, count in sorted(metrics.closes_total.items()):
        closes.add_metric([str(code)], count)
    yield closes
    yield HistogramMetricFamily(
        "silverball_feed_delivery_seconds",
        "From the writing of a change to the last subscriber's socket.",
        buckets=metrics.delivery_seconds.cumulative_counts(),
        sum_value=metrics.delivery_seconds.sum,
    )
