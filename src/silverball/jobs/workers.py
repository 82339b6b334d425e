"""Threads that repeat one duty each, while the program serves."""

import logging
import threading
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise

from silverball.kit.measures import JobRuns
from silverball.kit.threads import STOP_SECONDS, join_within

LOG = logging.getLogger("silverball.jobs")
POLL_SECONDS = 1.0
AFTER_FAULT_SECONDS = 5.0
# The first requests after a start come before the first duties.
AFTER_START_SECONDS = 0.3
# All at once they would open a connection to the database each, and keep it: four megabytes on SQLite.
BETWEEN_SECONDS = 0.04


class Workers:
    """A thread for each duty, from `start` to `close`.

    A duty returns whether there was any work; when there was none, the thread pauses before the next try.
    """

    def __init__(
        self,
        name: str,
        duties: Sequence[Callable[[], bool]],
        *,
        poll_seconds: float = POLL_SECONDS,
    ) -> None:
        self.runs = JobRuns()
        self.name = name
        self.first_after_seconds = AFTER_START_SECONDS
        self._duties = duties
        self._poll_seconds = poll_seconds
        self._stop = threading.Event()
        self._threads: list[threading.Thread] = []

    @property
    def last_after_seconds(self) -> float:
        """When the last of the duties has begun, after the start."""
        return self.first_after_seconds + BETWEEN_SECONDS * len(self._duties)

    def start(self) -> None:
        """Run the duties until `close`, the first times one after the other."""
        for number, duty in enumerate(self._duties, start=1):
            name = f"silverball-{self.name}-{number}"
            after = self.first_after_seconds + BETWEEN_SECONDS * (number - 1)
            thread = threading.Thread(target=self._repeat, args=(duty, after), name=name, daemon=True)
            thread.start()
            self._threads.append(thread)

    def close(self) -> None:
        """Stop, after waiting for the work in progress, unless it hangs."""
        self._stop.set()
        join_within(self._threads, STOP_SECONDS)

    def _repeat(self, duty: Callable[[], bool], after_seconds: float) -> None:
        self._stop.wait(after_seconds)
        while not self._stop.is_set():
            try:
                with self.runs.measure():
                    wait = 0.0 if duty() else self._poll_seconds
            except Exception as error:  # the edge of a thread: the thread must go on
                LOG.error("%s: work failed", self.name, exc_info=error)
                wait = max(self._poll_seconds, AFTER_FAULT_SECONDS)
            if wait:
                self._stop.wait(wait)


def begin_in_turn(groups: Iterable[Workers]) -> None:
    """Let each group begin after the one before it."""
    for before, group in pairwise(groups):
        group.first_after_seconds = before.last_after_seconds
