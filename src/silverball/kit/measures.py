"""Counts and durations of one process since its start, as plain numbers that `/metrics` shows.

With the counters of prometheus_client, each of which takes a lock, a core answers a seventh fewer requests
from memory, and a fifth fewer with its histogram.
"""

import re
import threading
import time
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache

from msgspec import Struct, field

# Upper bounds in seconds; the last bucket has none.
SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
# The label of whatever anybody can make up.
OTHER = "other"
PATHS_KNOWN = 4_096
NUMBERS = re.compile("(?<=/)[0-9]+(?=/|$)")


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

    def cumulative_counts(self, *, at_once: int = 0) -> list[tuple[str, int]]:
        """(upper bound, number of durations up to it), as Prometheus expects it; `at_once` took no time."""
        total, rows = at_once, []
        for bound, count in zip([*map(str, SECONDS), "+Inf"], self.counts, strict=True):
            total += count
            rows.append((bound, total))
        return rows


class RouteCounts:
    """The requests of one method and route."""

    __slots__ = ("computed", "found", "seconds", "unchanged")

    def __init__(self) -> None:
        # Answers from memory: whole ones, and 304. Counted and not timed, as a clock would cost more.
        self.found = 0
        self.unchanged = 0
        # All others, by class of status: 2 for 2xx.
        self.computed: Counter[int] = Counter()
        self.seconds = Histogram()

    def count_found(self, status: int) -> None:
        """Count an answer from memory."""
        if status == 200:
            self.found += 1
        elif status == 304:
            self.unchanged += 1
        else:
            self.computed[status // 100] += 1

    @property
    def by_status(self) -> dict[str, int]:
        """The number of answers by class of status."""
        counts = Counter(self.computed) + Counter({2: self.found, 3: self.unchanged})
        return {f"{status}xx": counts[status] for status in sorted(counts)}


# For answers that nobody counts.
UNCOUNTED = RouteCounts()


class RequestMeasures:
    """The requests of the process. Used by the event loop only."""

    def __init__(self) -> None:
        self.routes: dict[tuple[str, str], RouteCounts] = {}
        # Answers with 503: whatever was too busy or out of reach; and those of them that were shed.
        self.unavailable = 0
        self.shed = 0
        self.turned_away = 0
        self._route_of: Callable[[str], str] = lambda _path: OTHER

    def name_routes(self, route_of: Callable[[str], str]) -> None:
        """Name routes by this function of a path; only what the site declares is a name."""
        self._route_of = lru_cache(maxsize=PATHS_KNOWN)(route_of)

    def counts_for(self, method: str, path: str) -> RouteCounts:
        """The counts of this request's route."""
        # Which number stands in a path says nothing of its route, and would fill what is remembered.
        key = method if method in METHODS else OTHER, self._route_of(NUMBERS.sub("1", path))
        counts = self.routes.get(key)
        if counts is None:
            counts = self.routes[key] = RouteCounts()
        return counts

    def count(self, method: str, path: str, status: int, seconds: float | None) -> RouteCounts:
        """Count an answer; without seconds it is one that waits for something to happen."""
        counts = self.counts_for(method, path)
        counts.computed[status // 100] += 1
        self.unavailable += status == 503
        if seconds is not None:
            counts.seconds.observe(seconds)
        return counts


class DatabaseMeasures:
    """The work of one database, as this process sees it. Used by many threads."""

    def __init__(self) -> None:
        self.waiting = 0
        self.commits = 0
        self.rollbacks = 0
        # Time to a connection of the pool, to a writer's lock, and of whole transactions that write.
        self.connection_seconds = Histogram()
        self.lock_seconds = Histogram()
        self.write_seconds = Histogram()
        self._lock = threading.Lock()

    @contextmanager
    def wait_for_connection(self) -> Iterator[None]:
        """Time the wait for a connection of the pool."""
        began = time.monotonic()
        with self._lock:
            self.waiting += 1
        try:
            yield
        finally:
            with self._lock:
                self.waiting -= 1
                self.connection_seconds.observe(time.monotonic() - began)

    def count_write(self, seconds: float, lock_seconds: float | None, *, is_committed: bool) -> None:
        """Count a transaction that wrote, and had the lock after so long; None when it never had it."""
        with self._lock:
            if lock_seconds is not None:
                self.lock_seconds.observe(lock_seconds)
            self.commits += is_committed
            self.rollbacks += not is_committed
            self.write_seconds.observe(seconds)


class JobRuns(Struct):
    """The runs of one job or duty."""

    runs: int = 0
    failures: int = 0
    # Unix time of the last success, and how long it took.
    succeeded_at: float = 0.0
    seconds: float = 0.0

    @contextmanager
    def measure(self) -> Iterator[None]:
        """Count a run; an exception is a failure."""
        began = time.monotonic()
        self.runs += 1
        try:
            yield
        except BaseException:
            self.failures += 1
            raise
        self.seconds = time.monotonic() - began
        self.succeeded_at = time.time()


class WebhookMeasures(Struct):
    """The deliveries of this process, and the backlog of the site as it was counted last."""

    delivered: int = 0
    failed: int = 0
    waiting: int = 0
    # How long the message that waits longest is due.
    oldest_seconds: float = 0.0


class MirrorMeasures(Struct):
    """The running mirrors of one other service, as they were counted last."""

    mirrors: int = 0
    # Those whose other side does not answer.
    lost: int = 0
    # Those whose standings differ from those there.
    different: int = 0
    # From an event there to its announcement here, in the slowest of them.
    median_seconds: float = 0.0
    p99_seconds: float = 0.0


class Measures(Struct):
    """All of it."""

    requests: RequestMeasures = field(default_factory=RequestMeasures)
    database: DatabaseMeasures = field(default_factory=DatabaseMeasures)
    jobs: dict[str, JobRuns] = field(default_factory=dict)
    webhooks: WebhookMeasures = field(default_factory=WebhookMeasures)
    # Host -> its mirrors; replaced as a whole.
    mirrors: dict[str, MirrorMeasures] = field(default_factory=dict)
    # Whether the process can serve; answers within seconds. Set by who builds the program.
    is_ready: Callable[[], bool] = lambda: True

    def job(self, name: str) -> JobRuns:
        """The runs of this job."""
        return self.jobs.setdefault(name, JobRuns())
