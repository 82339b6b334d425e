"""Run the jobs in one of the workers of a machine: in the one that holds their lock.

The lock ends with the process that holds it, so another one takes over as soon as it tries again.
"""

import threading
from collections.abc import Callable, Sequence

TRY_SECONDS = 1.0


class ElectedJobs:
    """Starts the jobs in this process once the lock is free, and stops them with the program."""

    def __init__(
        self,
        starts: Sequence[Callable[[], None]],
        *,
        try_lock: Callable[[], bool],
        unlock: Callable[[], None],
        try_seconds: float = TRY_SECONDS,
    ) -> None:
        self._starts = starts
        self._try_lock = try_lock
        self._unlock = unlock
        self._try_seconds = try_seconds
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self.is_elected = False

    def start(self) -> None:
        """Try to get the lock until `close`."""
        self._thread = threading.Thread(target=self._wait_for_lock, name="silverball-elected", daemon=True)
        self._thread.start()

    def end_waiting(self) -> None:
        """Start nothing any more; called before the jobs are stopped."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join()

    def close(self) -> None:
        """Give the lock back; called after the jobs have stopped."""
        if self.is_elected:
            self._unlock()

    def _wait_for_lock(self) -> None:
        while not self._try_lock():
            if self._stop.wait(self._try_seconds):
                return
        self.is_elected = True
        for start in self._starts:
            start()
