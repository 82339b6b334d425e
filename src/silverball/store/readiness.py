"""Whether this process can serve: its database answers, has the right schema, and can be written to.

A check that hangs (a frozen database, a silent network) is waited for no longer than a moment, and
nothing more is asked until it ends.
"""

import logging
import threading
import time
from collections.abc import Callable

from sqlalchemy import text

from silverball.store import migrate
from silverball.store.engine import Commit, Store
from silverball.store.faults import DatabaseFault, short_message

LOG = logging.getLogger("silverball.store")
# An answer counts for this long, however many ask.
ANSWER_KEPT_SECONDS = 1.0
WAIT_SECONDS = 2.0
# Writing waits for the disk, so it is tried this often at most, and not after a commit.
PROBE_SECONDS = 15.0
PROBE = text(
    "INSERT INTO site_value (name, value) VALUES ('ready-probe', '1') ON CONFLICT (name) DO UPDATE"
    " SET value = CASE site_value.value WHEN '1' THEN '2' ELSE '1' END"
)


class Readiness:
    """Checks one database for all who ask."""

    def __init__(self, store: Store, clock: Callable[[], float] = time.monotonic) -> None:
        self.is_ready = False
        self._store = store
        self._clock = clock
        self._lock = threading.Lock()
        self._checked_at = float("-inf")
        self._written_at = float("-inf")
        self._running: threading.Event | None = None
        self._running_since = float("-inf")
        store.after_commit.append(self._note_commit)

    def check(self, seconds_max: float = WAIT_SECONDS) -> bool:
        """Return whether this process can serve; False when that is not known within the time."""
        with self._lock:
            if self._running is None:
                if self._clock() < self._checked_at + ANSWER_KEPT_SECONDS:
                    return self.is_ready
                begun = threading.Event()
                thread = threading.Thread(
                    target=self._run, args=(begun,), name="silverball-ready", daemon=True
                )
                try:
                    thread.start()
                except RuntimeError:
                    # The system gives no more threads; whoever asks next tries again.
                    self.is_ready = False
                    return False
                self._running, self._running_since = begun, self._clock()
            running = self._running
            # Whoever asks while it hangs is answered at once.
            seconds = self._running_since + seconds_max - self._clock()
        if not running.wait(max(0.0, seconds)):
            self.is_ready = False
        return self.is_ready

    def _run(self, done: threading.Event) -> None:
        try:
            is_ready = self._store.file.is_same() and migrate.is_ready(self._store) and self._is_writable()
        except Exception as error:  # the edge of a thread: whoever waits is answered
            LOG.error("the check of the database failed", exc_info=error)
            is_ready = False
        with self._lock:
            self.is_ready = is_ready
            self._checked_at = self._clock()
            self._running = None
        done.set()

    def _is_writable(self) -> bool:
        if self._clock() < self._written_at + PROBE_SECONDS:
            return True
        try:
            with self._store.write(quiet=True) as transaction:
                transaction.connection.execute(PROBE)
        except DatabaseFault as error:
            LOG.warning("the database cannot be written to: %s", short_message(error))
            return False
        self._written_at = self._clock()
        return True

    def _note_commit(self, _commit: Commit) -> None:
        self._written_at = self._clock()
