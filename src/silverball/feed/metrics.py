"""The counters of the feed, as plain numbers."""

from collections import Counter

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
