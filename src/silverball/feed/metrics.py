"""What the feed counts. Plain numbers: whoever shows them reads them here."""

from bisect import bisect_left
from collections import Counter
from dataclasses import dataclass, field

# Upper bounds in seconds; the last bucket has none.
SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)


class Histogram:
    """How often something took how long."""

    __slots__ = ("counts", "sum")

    def __init__(self) -> None:
        # One for each bound, not cumulated, and one for what took longer than all of them.
        self.counts = [0] * (len(SECONDS) + 1)
        self.sum = 0.0

    def observe(self, seconds: float) -> None:
        """One more; a clock that was set back counts as nothing."""
        taken = max(seconds, 0.0)
        self.counts[bisect_left(SECONDS, taken)] += 1
        self.sum += taken

    def cumulative_counts(self) -> list[tuple[str, int]]:
        """(upper bound, how many at most so long), the way Prometheus wants it."""
        total, rows = 0, []
        for bound, count in zip([*map(str, SECONDS), "+Inf"], self.counts, strict=True):
            total += count
            rows.append((bound, total))
        return rows


@dataclass(slots=True)
class FeedMetrics:
    """The numbers of one hub, since it was started; connections, subscriptions and lagging are of now."""

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
    # From the time of a change to the moment when its event was handed to the last subscriber's socket.
    delivery_seconds: Histogram = field(default_factory=Histogram)
    # How far behind the announcements the relay is; kept up to date by the relay.
    relay_lag_seconds: float = 0.0
