"""Deadlines of transactions, kept by one thread of the process.

    with deadlines.limit(5) as deadline:
        with engine.connect() as db:
            deadline.attach(db)
            ...
            deadline.require_time()

At the deadline the statement that is running is cancelled. Where the database does not answer even to
that, its connection is shut down a second later, and whoever waits on it gets an error. Nothing is done
per statement, so a transaction that ends in time pays for two entries in a table only.

A process that stops names the moment at which all of them are over, those of its jobs too.
"""

import contextlib
import logging
import os
import socket
import sqlite3
import threading
import time
from collections.abc import Mapping
from math import inf
from types import MappingProxyType, TracebackType
from typing import Any, Self

from msgspec import Struct
from sqlalchemy import Connection

from silverball.kit.errors import Refusal
from silverball.kit.threads import early_answer
from silverball.store.database.faults import DatabaseUnavailable

LOG = logging.getLogger("silverball.store")
# A cancelled statement has this long to end before the connection is shut down.
GRACE_SECONDS = 1.0
# A commit that takes longer is answered before its end: its disk hangs.
COMMIT_SECONDS = 5.0
# A statement of SQLite that begins after the interrupt is interrupted too.
LOOK_AGAIN_SECONDS = 0.1


class TransactionTookTooLong(DatabaseUnavailable):
    """A transaction was ended at its deadline; nothing of it was kept."""

    sentence = "The database took too long, and nothing was changed. Send the request again."


class ProcessIsStopping(DatabaseUnavailable):
    """A transaction did not begin, because the process is about to end."""

    sentence = "This server is stopping, and nothing was changed. Send the request again."


class OutcomeUnknown(DatabaseUnavailable):
    """A commit did not come to an end in time, or its connection was lost; it may yet be on the disk."""

    sentence = (
        "This may or may not have been stored. Send it again with the same Idempotency-Key, or look before"
        " you do it again."
    )


class Deadline:
    """The deadline of one transaction, which is the block it is entered for."""

    def __init__(self, deadlines: "Deadlines", seconds: float, *, cancels: bool) -> None:
        self._deadlines = deadlines
        self._seconds = seconds
        self.due = inf
        # Whether the transaction was ended.
        self.is_over = False
        self._is_cancelled = not cancels
        self._driver: Any = None

    def __enter__(self) -> Self:
        self._deadlines.begin(self, self._seconds)
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        self._deadlines.finish(self)
        if self.is_over and isinstance(error, Exception) and not isinstance(error, Refusal):
            LOG.warning("a transaction was ended after %s seconds: %s", self._seconds, type(error).__name__)
            raise TransactionTookTooLong from error

    def attach(self, db: Connection) -> None:
        """Name the connection that the transaction runs on."""
        self._driver = db.connection.dbapi_connection

    def attach_driver(self, driver: Any) -> None:
        """Name the driver's connection."""
        self._driver = driver

    def require_time(self) -> None:
        """Raise TransactionTookTooLong when the deadline has passed."""
        if self.is_over:
            raise TransactionTookTooLong

    def act(self) -> None:
        """End what is running, again at the new `due` until it has finished. The lock is held."""
        self.is_over = True
        driver = self._driver
        if driver is None:
            # It may get its connection yet.
            self.due += LOOK_AGAIN_SECONDS
        elif isinstance(driver, sqlite3.Connection):
            driver.interrupt()
            self.due += LOOK_AGAIN_SECONDS
        elif not self._is_cancelled:
            self._is_cancelled = True
            # Cancelling needs another connection, which may hang as well.
            try:
                threading.Thread(target=_cancel, args=(driver,), daemon=True).start()
            except RuntimeError:
                # The system gives no more threads, so it is shut down at the next look.
                self.due += LOOK_AGAIN_SECONDS
            else:
                self.due += GRACE_SECONDS
        else:
            shut_down(driver)
            self.due = inf


class CommitDeadline(Deadline):
    """The deadline of a commit: nothing can end that, but its client gets an answer."""

    def __init__(self, deadlines: "Deadlines", seconds: float) -> None:
        super().__init__(deadlines, seconds, cancels=False)
        self._answer_early = early_answer()

    def __enter__(self) -> Self:
        # A process that stops commits what is written.
        with contextlib.suppress(ProcessIsStopping):
            super().__enter__()
        return self

    def __exit__(self, *_error: object) -> None:
        self._deadlines.finish(self)

    def act(self) -> None:
        """Answer the client. The lock is held."""
        self.due = inf
        LOG.error("a commit has no end after %s seconds: does the disk answer?", self._seconds)
        if self._answer_early is not None:
            self._answer_early(OutcomeUnknown())


class Deadlines:
    """The deadlines of the open transactions of this process."""

    def __init__(self) -> None:
        # Of the open deadlines: none finishes, and gives its connection to others, while it is acted on.
        self._lock = threading.RLock()
        self._condition = threading.Condition(self._lock)
        self._open: set[Deadline] = set()
        self._thread: threading.Thread | None = None
        # When the thread looks next; it need not be woken for anything later.
        self._wakes_at = inf
        # When every transaction is over, because the process stops.
        self._all_over_at = inf
        self._is_closed = False

    def limit(self, seconds: float, *, cancels: bool = True) -> Deadline:
        """Limit the block. An error that the deadline caused becomes TransactionTookTooLong.

        Without `cancels` the connection is shut down at once, for statements that only try it.
        """
        return Deadline(self, seconds, cancels=cancels)

    def limit_commit(self) -> CommitDeadline:
        """Answer this thread's client if the block, a commit, does not end in time."""
        return CommitDeadline(self, COMMIT_SECONDS)

    def begin(self, deadline: Deadline, seconds: float) -> None:
        """Watch a deadline. Raises ProcessIsStopping when nothing may begin any more."""
        now = time.monotonic()
        deadline.due = min(now + seconds, self._all_over_at)
        if deadline.due <= now:
            raise ProcessIsStopping
        with self._lock:
            # One without an end is watched too: the process may stop.
            self._open.add(deadline)
            if self._thread is None or deadline.due < self._wakes_at:
                self._look_at(deadline.due)

    def finish(self, deadline: Deadline) -> None:
        """Leave the connection of a deadline alone from now on."""
        with self._lock:
            self._open.discard(deadline)
            if self._is_closed:
                self._condition.notify()

    def end_all_within(self, seconds: float) -> None:
        """End every transaction after this time, and begin none from then on."""
        with self._condition:
            self._all_over_at = time.monotonic() + seconds
            for deadline in self._open:
                deadline.due = min(deadline.due, self._all_over_at)
            self._look_at(self._all_over_at)

    def close(self) -> None:
        """End the thread once no transaction is open; a later transaction starts another one."""
        with self._condition:
            self._is_closed = True
            self._condition.notify()

    def _look_at(self, due: float) -> None:
        """Have the thread look at this time at the latest."""
        if due == inf:
            return
        if self._thread is None:
            thread = threading.Thread(target=self._watch, name="silverball-deadlines", daemon=True)
            thread.start()
            self._thread = thread
        elif due < self._wakes_at:
            self._condition.notify()

    def _watch(self) -> None:
        while True:
            with self._condition:
                now = time.monotonic()
                for deadline in [each for each in self._open if each.due <= now]:
                    deadline.act()
                if self._is_closed and not self._open:
                    self._thread = None
                    return
                self._wakes_at = min((each.due for each in self._open), default=inf)
                self._condition.wait(None if self._wakes_at == inf else max(0.0, self._wakes_at - now))


def _cancel(driver: Any) -> None:
    # Whatever goes wrong, the connection is shut down next.
    with contextlib.suppress(Exception):
        driver.cancel_safe(timeout=GRACE_SECONDS)


def shut_down(driver: Any) -> None:
    """End a connection of PostgreSQL under whoever waits on it."""
    with contextlib.suppress(Exception), socket.socket(fileno=os.dup(driver.fileno())) as connected:
        connected.shutdown(socket.SHUT_RDWR)


# Time limits of transactions, and the settings of PostgreSQL that keep them on the server's side.
#
# PostgreSQL limits single statements and pauses, never a whole transaction: `deadlines` does that here. The
# server's limits are for a node that hangs or vanishes and can no longer keep its own.


class TimeLimits(Struct, frozen=True, kw_only=True):
    """How long a transaction may wait for a lock, run a statement, pause, and last; `inf` for no limit."""

    lock_seconds: float
    statement_seconds: float
    pause_seconds: float
    # From its lock (a read: from its beginning) to its end.
    total_seconds: float

    @property
    def server_settings(self) -> dict[str, str]:
        """The settings of PostgreSQL: name -> milliseconds."""
        return {
            "lock_timeout": _milliseconds(self.lock_seconds),
            "statement_timeout": _milliseconds(self.statement_seconds),
            "idle_in_transaction_session_timeout": _milliseconds(self.pause_seconds),
        }


class StoreLimits(Struct, frozen=True, kw_only=True):
    """The limits of a program's reading and writing transactions."""

    read: TimeLimits
    write: TimeLimits


REQUEST = TimeLimits(lock_seconds=2, statement_seconds=5, pause_seconds=5, total_seconds=5)
# Requests: somebody waits for the answer, and others for the lock.
REQUESTS = StoreLimits(read=REQUEST, write=REQUEST)
# Hourly jobs read for long (bulk files, ratings), and write in slices of a second at most.
JOBS = StoreLimits(
    read=TimeLimits(lock_seconds=2, statement_seconds=60, pause_seconds=60, total_seconds=600),
    write=TimeLimits(lock_seconds=1, statement_seconds=2, pause_seconds=5, total_seconds=5),
)
# Duties that are repeated every second read as little as a request. One that hangs would hold up what it
# does for the next ten minutes.
DUTIES = StoreLimits(read=REQUEST, write=JOBS.write)
# The computing process reads for as long as somebody waits for its answer, and writes nothing.
COMPUTING = StoreLimits(read=JOBS.read, write=JOBS.write)
# The fetching process stores what a source sends: whoever writes meanwhile waits no longer than a second.
FETCHING = StoreLimits(
    read=JOBS.read,
    write=TimeLimits(lock_seconds=1, statement_seconds=1, pause_seconds=1, total_seconds=1),
)
# A day is rated as a whole (decision 0018), which takes longer than a slice where thousands play on one day
# or many ratings are new. Few wait for it: the ratings of everybody are published in slices.
RATINGS = StoreLimits(
    read=JOBS.read,
    write=TimeLimits(lock_seconds=1, statement_seconds=30, pause_seconds=30, total_seconds=60),
)
# Nobody else is there: a migration, or a copy of a database.
UNLIMITED = TimeLimits(lock_seconds=5, statement_seconds=inf, pause_seconds=inf, total_seconds=inf)
# Commands read as long as their operator waits. A server may run beside them, so they write like a request.
COMMANDS = StoreLimits(read=UNLIMITED, write=REQUEST)
# Commands that replace much at once: imports, and the deletion of all that an account made.
LONG_COMMANDS = StoreLimits(
    read=UNLIMITED,
    write=TimeLimits(lock_seconds=5, statement_seconds=600, pause_seconds=60, total_seconds=600),
)
RATING_COMMANDS = StoreLimits(read=UNLIMITED, write=RATINGS.write)
COPIES = StoreLimits(read=UNLIMITED, write=UNLIMITED)

# A process that stops gives its transactions, those of jobs too, this long in all.
STOP_SECONDS = 10

# A connection that became silent is given up by both sides, also in the middle of a transaction.
CONNECT_SECONDS = 2
CLIENT_TCP: Mapping[str, int] = MappingProxyType(
    {
        "connect_timeout": CONNECT_SECONDS,
        "keepalives": 1,
        "keepalives_idle": 5,
        "keepalives_interval": 2,
        "keepalives_count": 2,
        "tcp_user_timeout": 5_000,
    }
)
SERVER_TCP: Mapping[str, str] = MappingProxyType(
    {
        "tcp_keepalives_idle": "5",
        "tcp_keepalives_interval": "2",
        "tcp_keepalives_count": "2",
        "tcp_user_timeout": "5000",
    }
)


def _milliseconds(seconds: float) -> str:
    # PostgreSQL takes 0 for no limit.
    return "0" if seconds == inf else str(round(seconds * 1_000))
