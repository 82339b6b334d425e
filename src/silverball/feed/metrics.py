"""The counters of the feed, as plain numbers."""

from bisect import bisect_left
from collections import Counter
from dataclasses import dataclass, field

# Upper bounds in seconds; the last bucket has none.
SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)


class Histogram:
    """A distribution of durations."""

    __slots__ = ("counts", "sum")

    def __init__(self) -> None:
        # One count for each bound, not cumulative, and one for durations beyond all bounds.
        self.counts = [0] * (len(SECONDS) + 1)
        self.sum = 0.0

    def observe(self, seconds: float) -> None:
        """Count a duration; a negative one, after a clock was set back, counts as zero."""
        duration = max(seconds, 0.0)
        self.counts[bisect_left(SECONDS, duration)] += 1
        self.sum += duration

    def cumulative_counts(self) -> list[tuple[str, int]]:
        """(upper bound, number of durations up to it), as Prometheus expects it."""
        total, rows = 0, []
        for bound, count in zip([*map(str, SECONDS), "+Inf"], self.counts, strict=True):
            total += count
            rows.append((bound, total))
        return rows


@dataclass(slots=True)
class FeedMetrics:
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
