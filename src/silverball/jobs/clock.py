"""The clock that runs the hourly jobs, in a thread of its own, while the program serves."""

import logging
import threading
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime

from msgspec import Struct

from silverball.kit.measures import Measures
from silverball.kit.threads import STOP_SECONDS, join_within
from silverball.store.database.engine import Store

LOG = logging.getLogger("silverball.jobs")
# A computer without a battery for its clock gets the time from the network minutes after its start, and an
# operator may want to look at a server they have just started before it changes anything.
SETTLING_SECONDS = 600.0
EVERY_SECONDS = 3600.0
# When the time of the wall has moved by so much more or less than it took, the clock was set.
JUMP_SECONDS = 60.0


class Job(Struct, frozen=True):
    """An hourly job. It must be safe to run twice, because every node has a clock."""

    name: str
    run: Callable[[Store, datetime], None]


class JobClock:
    """Runs each job once an hour; a failed job is logged and runs again the next hour."""

    def __init__(
        self,
        store: Store,
        jobs: Sequence[Job],
        *,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
        monotonic: Callable[[], float] = time.monotonic,
        measures: Measures | None = None,
        first_after_seconds: float = SETTLING_SECONDS,
        every_seconds: float = EVERY_SECONDS,
    ) -> None:
        self._store = store
        self._jobs = jobs
        self._now = now
        self._monotonic = monotonic
        self._settling_seconds = first_after_seconds
        self._offset = self._clock_offset()
        # No job runs before this, by the monotonic clock.
        self._settled_at = monotonic()
        self._measures = measures or Measures()
        for job in jobs:
            # Shown before its first run, too.
            self._measures.job(job.name)
        self._every_seconds = every_seconds
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Run the jobs until `close`."""
        self._thread = threading.Thread(target=self._run_hourly, name="silverball-clock", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop, after waiting for a job that is running, unless it hangs."""
        self._stop.set()
        if self._thread is not None:
            join_within([self._thread], STOP_SECONDS)

    def run_all(self) -> None:
        """Run every job once, now; none while the clock may be wrong."""
        for job in self._jobs:
            if self._stop.is_set() or self.seconds_to_settle():
                return
            try:
                with self._measures.job(job.name).measure():
                    job.run(self._store, self._now().replace(microsecond=0))
            except Exception as error:  # the edge of a thread: the other jobs must run
                if self._stop.is_set():
                    LOG.info("the job %s was stopped and runs again after the next start", job.name)
                    return
                LOG.error("the job %s failed", job.name, exc_info=error)

    def seconds_to_settle(self) -> float:
        """The time until jobs may run: 0, or a while after the clock was set."""
        now, offset = self._monotonic(), self._clock_offset()
        if abs(offset - self._offset) > JUMP_SECONDS:
            LOG.warning(
                "the clock was set by %+.0f s: no job runs for %.0f s",
                offset - self._offset,
                self._settling_seconds,
            )
            self._offset, self._settled_at = offset, now + self._settling_seconds
        return max(0.0, self._settled_at - now)

    def _clock_offset(self) -> float:
        return self._now().timestamp() - self._monotonic()

    def _run_hourly(self) -> None:
        wait = self._settling_seconds
        while not self._stop.wait(wait):
            self.run_all()
            # What was left out is made up for as soon as the clock is trusted again.
            wait = self.seconds_to_settle() or self._every_seconds
