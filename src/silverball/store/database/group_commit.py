"""Group commit: writers of one SQLite file take turns, and writers who queue share a commit.

A commit waits for the disk (synchronous=FULL), which takes longer than the writing itself. So a writer
leaves the transaction open for the next one in the queue, and the last writer commits for all. Each
writer waits for that commit before returning: an acknowledged change is on the disk. The first works in
the transaction itself, the others in savepoints, so a writer who fails rolls back only their own work.
When SQLite itself gave up the whole transaction (a full disk), every writer in it gets the error.

The writers have a connection of their own, which stays open between them: its cache of pages is still
good, as nobody else has written, while a connection of readers has to read again what has changed.
"""

import contextlib
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext

from sqlalchemy import Connection, Engine
from sqlalchemy.exc import OperationalError, SQLAlchemyError

from silverball.store.database import faults, statements
from silverball.store.database.deadlines import Deadlines, TimeLimits
from silverball.store.database.faults import DatabaseUnavailable
from silverball.store.database.transaction import WRITES, Transaction
from silverball.store.tournament.loaded import LoadedTournament

# No writer waits for more than these others, and for none who begins this long after the first.
WRITERS_MAX = 16
SHARED_SECONDS_MAX = 1.0
# A writer waits this long for the writers of this process and for other processes together.
SQLITE_QUEUE_SECONDS = 4.5
# SQLite's own waiting looks for its turn less and less often, every tenth of a second in the end, and misses
# it while a job of another process works in slices. So it waits this long (after 1, 3 and 8 ms it has
# looked), and is sent to wait again until the time is over.
LOOK_SECONDS = 0.008
# A reader that became a writer later could be refused, so a writer takes the lock at once.
BEGIN_TO_WRITE = "BEGIN IMMEDIATE"
# For the first writer of a transaction, whose statements are all there are.
WITHOUT_SAVEPOINT: AbstractContextManager[None] = nullcontext()


class DatabaseBusy(DatabaseUnavailable):
    """The turn to write did not come in time."""

    sentence = "The database is busy. Nothing was changed; send the request again."


class _SharedTransaction:
    """A database transaction that several writers fill."""

    def __init__(self, db: Connection) -> None:
        self.db = db
        self.begun_at = time.monotonic()
        self.writers = 0
        # Tournaments as this transaction has left them so far, not committed yet.
        self.loaded: dict[int, LoadedTournament] = {}
        self.fault: BaseException | None = None
        # Held until the end. An Event is made of several of these, and costs a write twenty times as much.
        self._end = threading.Lock()
        self._end.acquire()

    def end(self) -> None:
        """Let everybody go who waits for the end."""
        self._end.release()

    def wait_for_end(self) -> None:
        """Wait until the transaction is over, and let the next one go who waits."""
        with self._end:
            pass

    @contextmanager
    def savepoint(self) -> Iterator[None]:
        """A block whose statements alone are undone when it fails."""
        # SQLAlchemy's own `begin_nested` would compile the statement anew for each writer.
        statements.run_text(self.db, "SAVEPOINT writer")
        try:
            yield
            statements.run_text(self.db, "RELEASE writer")
        except BaseException as error:
            self._roll_back(error)
            raise

    def _roll_back(self, error: BaseException) -> None:
        try:
            self.db.exec_driver_sql("ROLLBACK TO writer")
            self.db.exec_driver_sql("RELEASE writer")
        except SQLAlchemyError:
            # SQLite gives up a whole transaction by itself when the disk is full.
            self.fault = error


class GroupCommit:
    """The queue of writers of one process."""

    def __init__(self, engine: Engine, deadlines: Deadlines) -> None:
        self._engine = engine
        self._deadlines = deadlines
        self._writer_lock = threading.Lock()
        self._count_lock = threading.Lock()
        self._waiting = 0
        self._open: _SharedTransaction | None = None
        # The writers' own connection, while none of them has it.
        self._idle: Connection | None = None

    @contextmanager
    def transaction(self, limits: TimeLimits) -> Iterator[Transaction]:
        """One writer's transaction; it is on the disk when the block has ended."""
        shared = self._join()
        try:
            transaction = Transaction(shared.db, shared.loaded)
            own_work = shared.savepoint() if shared.writers else WITHOUT_SAVEPOINT
            with own_work, self._deadlines.limit(limits.total_seconds) as deadline:
                deadline.attach(shared.db)
                yield transaction
                deadline.require_time()
            shared.writers += 1
            shared.loaded.update(transaction.loaded)
        except BaseException:
            self._hand_over(shared)
            raise
        with self._deadlines.limit_commit():
            self._hand_over(shared)
            shared.wait_for_end()
        if shared.fault is not None:
            raise shared.fault

    def _join(self) -> _SharedTransaction:
        """Wait for this writer's turn; returns the open transaction, or a new one."""
        due = time.monotonic() + SQLITE_QUEUE_SECONDS
        self._take_turn()
        shared, self._open = self._open, None
        if shared is not None:
            return shared
        try:
            return _SharedTransaction(self._begin(due))
        except BaseException:
            self._writer_lock.release()
            raise

    def _take_turn(self) -> None:
        with self._count_lock:
            self._waiting += 1
        is_turn = self._writer_lock.acquire(timeout=SQLITE_QUEUE_SECONDS)
        with self._count_lock:
            self._waiting -= 1
            # The turn may have come just now, and an open transaction with it, which must not be left alone.
            is_turn = is_turn or self._writer_lock.acquire(blocking=False)
        if not is_turn:
            raise DatabaseBusy

    def _begin(self, due: float) -> Connection:
        """Begin a transaction, as soon as no other process writes."""
        db, self._idle = self._idle, None
        if db is None:
            db = self._engine.connect().execution_options(**{WRITES: True})
            _set_busy_timeout(db, LOOK_SECONDS)
        try:
            _begin_when_free(db, due)
        except BaseException:
            _return_to_pool(db)
            raise
        return db

    def _hand_over(self, shared: _SharedTransaction) -> None:
        """Leave the transaction to the next writer, or end it for every writer in it."""
        with self._count_lock:
            # Without a writer who succeeded there is nothing to hand over or to commit.
            is_whole = shared.fault is None and shared.writers > 0
            is_young = time.monotonic() - shared.begun_at < SHARED_SECONDS_MAX
            if is_whole and is_young and self._waiting > 0 and shared.writers < WRITERS_MAX:
                # While nobody can stop waiting.
                self._open = shared
                self._writer_lock.release()
                return
        try:
            if is_whole:
                statements.run_begun(shared.db, "COMMIT")
            else:
                shared.db.rollback()
        except BaseException as error:  # noqa: BLE001  # every writer in it raises the error, in a thread of its own
            shared.fault = error
            # The state of the connection is unknown.
            shared.db.invalidate(error)
        finally:
            if is_whole and shared.fault is None:
                self._idle = shared.db
            else:
                # Whatever went wrong, the pool resets the connection before the next writer has it.
                _return_to_pool(shared.db)
            self._writer_lock.release()
            shared.end()

    def close(self) -> None:
        """Close the writers' connection, unless a writer has it; a later writer opens another one."""
        if not self._writer_lock.acquire(blocking=False):
            return
        db, self._idle = self._idle, None
        self._writer_lock.release()
        if db is not None:
            _return_to_pool(db)


def _begin_when_free(db: Connection, due: float) -> None:
    """Begin a transaction. Raises OperationalError when another process still writes at that time."""
    while True:
        try:
            _begin_at_once(db)
        except OperationalError as error:
            if not faults.is_locked(error) or time.monotonic() >= due:
                raise
        else:
            return


def _begin_at_once(db: Connection) -> None:
    # SQLAlchemy begins once and is not told of commits: its part costs as much as several statements.
    if db.in_transaction():
        statements.run_begun(db, BEGIN_TO_WRITE)
    else:
        db.begin()


def _return_to_pool(db: Connection) -> None:
    """Close the connection for readers, who wait as long as the driver lets them."""
    with contextlib.suppress(sqlite3.Error):
        if not db.invalidated:
            _set_busy_timeout(db, SQLITE_QUEUE_SECONDS)
    db.close()


def _set_busy_timeout(db: Connection, seconds: float) -> None:
    # On the driver's cursor: a statement of SQLAlchemy would begin the transaction.
    cursor = db.connection.cursor()
    cursor.execute(f"PRAGMA busy_timeout={round(seconds * 1_000)}")
    cursor.close()
