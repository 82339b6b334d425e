"""Threads that repeat one duty each, while the program serves."""

import logging
import threading
from collections.abc import Callable, Sequence

from silverball.kit.measures import JobRuns

LOG = logging.getLogger("silverball.jobs")
POLL_SECONDS = 1.0
AFTER_FAULT_SECONDS = 5.0
# The first requests after a start come before the first duties.
AFTER_START_SECONDS = 0.3


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
        self._duties = duties
        self._poll_seconds = poll_seconds
        self._stop = threading.Event()
        self._threads: list[threading.Thread] = []

    def start(self) -> None:
        """Run the duties until `close`."""
        for number, duty in enumerate(self._duties, start=1):
            name = f"silverball-{self.name}-{number}"
            thread = threading.Thread(target=self._repeat, args=(duty,), name=name, daemon=True)
            thread.start()
            self._threads.append(thread)

    def close(self) -> None:
        """Stop, after waiting for the work in progress, which takes seconds at most."""
        self._stop.set()
        for thread in self._threads:
            thread.join()

    def _repeat(self, duty: Callable[[], bool]) -> None:
        self._stop.wait(AFTER_START_SECONDS)
        while not self._stop.is_set():
            try:
                with self.runs.measure():
                    wait = 0.0 if duty() else self._poll_seconds
            except Exception as error:  # the edge of a thread: the thread must go on
                LOG.error("%s: work failed", self.name, exc_info=error)
                wait = max(self._poll_seconds, AFTER_FAULT_SECONDS)
            if wait:
                self._stop.wait(wait)
