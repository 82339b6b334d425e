"""Group commit: writers of one SQLite file take turns, and writers who queue share a commit.

A commit waits for the disk (synchronous=FULL), which takes longer than the writing itself. So a writer
leaves the transaction open for the next one in the queue, and the last writer commits for all. Each
writer waits for that commit before returning: an acknowledged change is on the disk. Each works in a
savepoint, so a writer who fails rolls back only their own work. When SQLite itself gave up the whole
transaction (a full disk), every writer in it gets the error.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy import Connection, Engine
from sqlalchemy.exc import SQLAlchemyError

from silverball.store.loaded import LoadedTournament
from silverball.store.transaction import WRITES, Transaction

# No writer waits for more than these others.
WRITERS_MAX = 16


class _SharedTransaction:
    """A database transaction that several writers fill."""

    def __init__(self, db: Connection) -> None:
        self.db = db
        self.writers = 0
        # Tournaments as this transaction has left them so far, not committed yet.
        self.loaded: dict[int, LoadedTournament] = {}
        self.is_over = threading.Event()
        self.fault: BaseException | None = None

    @contextmanager
    def savepoint(self) -> Iterator[None]:
        """Roll back only this writer's statements when the block fails.

        SQLAlchemy's own `begin_nested` would compile the statement anew for each writer.
        """
        self.db.exec_driver_sql("SAVEPOINT writer")
        try:
            yield
            self.db.exec_driver_sql("RELEASE writer")
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

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._writer_lock = threading.Lock()
        self._count_lock = threading.Lock()
        self._waiting = 0
        self._open: _SharedTransaction | None = None

    @contextmanager
    def transaction(self) -> Iterator[Transaction]:
        """One writer's transaction; it is on the disk when the block has ended."""
        shared = self._join()
        try:
            transaction = Transaction(shared.db, shared.loaded)
            with shared.savepoint():
                yield transaction
            shared.writers += 1
            shared.loaded.update(transaction.loaded)
        finally:
            self._hand_over(shared)
        shared.is_over.wait()
        if shared.fault is not None:
            raise shared.fault

    def _join(self) -> _SharedTransaction:
        """Wait for this writer's turn; returns the open transaction, or a new one."""
        with self._count_lock:
            self._waiting += 1
        self._writer_lock.acquire()
        with self._count_lock:
            self._waiting -= 1
        shared, self._open = self._open, None
        if shared is not None:
            return shared
        try:
            db = self._engine.connect().execution_options(**{WRITES: True})
            try:
                db.begin()
            except BaseException:
                db.close()
                raise
        except BaseException:
            self._writer_lock.release()
            raise
        return _SharedTransaction(db)

    def _hand_over(self, shared: _SharedTransaction) -> None:
        """Leave the transaction to the next writer, or end it for every writer in it."""
        with self._count_lock:
            is_whole = shared.fault is None
            has_next = is_whole and self._waiting > 0 and shared.writers < WRITERS_MAX
        if has_next:
            self._open = shared
            self._writer_lock.release()
            return
        try:
            if is_whole:
                shared.db.commit()
            else:
                shared.db.rollback()
        except BaseException as error:  # noqa: BLE001  # every writer in it raises the error, in a thread of its own
            shared.fault = error
            # The state of the connection is unknown.
            shared.db.invalidate(error)
        finally:
            shared.db.close()
            self._writer_lock.release()
            shared.is_over.set()
