"""The database: `read()` for a snapshot, `write(...)` for a transaction.

All that one `with store.read() as db` reads is from the same moment. A write of a tournament holds
that tournament's lock from its first statement on, so there is one writer per tournament; SQLite has
one writer in all. Leaving `with store.write(...) as transaction` commits.
"""

import copy
import logging
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

from msgspec import Struct
from sqlalchemy import Connection, Engine, bindparam, create_engine, event, make_url, select, text
from sqlalchemy.engine import URL
from sqlalchemy.exc import DBAPIError

from silverball.kit import files
from silverball.kit.measures import DatabaseMeasures
from silverball.kit.security import encryption
from silverball.kit.security.encryption import KeyFile
from silverball.rules.planning.nights import SimulatedNight
from silverball.store import tables
from silverball.store.counts.quotas import FULL, FullAccounts
from silverball.store.database import statements
from silverball.store.database.deadlines import (
    REQUESTS,
    UNLIMITED,
    Deadline,
    Deadlines,
    OutcomeUnknown,
    StoreLimits,
    TimeLimits,
)
from silverball.store.database.files import WatchedFile
from silverball.store.database.group_commit import BEGIN_TO_WRITE, SQLITE_QUEUE_SECONDS, GroupCommit
from silverball.store.database.health import DatabaseDamaged, FileHealth
from silverball.store.database.postgresql import CONNECTIONS_MAX, create_postgresql_engine, require_session
from silverball.store.database.statements import UNSENT, Statement, Unsent
from silverball.store.database.transaction import WRITES, Transaction
from silverball.store.people import hidings, names
from silverball.store.revisions import stamps
from silverball.store.revisions.kept_lists import LISTS, KeptLists
from silverball.store.revisions.stamps import Revision, WorldState, world_stamp
from silverball.store.tournament.forecasts import WANTED, WANTED_FORECASTS, WantedItems
from silverball.store.tournament.loaded import SNAPSHOTS, SnapshotCache

LOG = logging.getLogger("silverball.store")
# For rooms that hand a connection on without speaking SQL themselves.
Db = Connection
SQLITE_FILES_BESIDE = ("-wal", "-shm", "-journal")
SECRET_FILE_ENDING = ".secret"  # noqa: S105  # the ending of a name
WAL_BYTES_KEPT = 32_000_000
WORLD_SLOTS = 16
RAISE_WORLD = Statement(
    text("UPDATE world SET revision = revision + 1, stamp = :stamp WHERE slot = :slot RETURNING revision")
)
# Also where the slot is not there yet. It costs SQLite half as much again.
ADD_OR_RAISE_WORLD = Statement(
    text(
        "INSERT INTO world (slot, revision, stamp) VALUES (:slot, 1, :stamp) ON CONFLICT (slot)"
        " DO UPDATE SET revision = world.revision + 1, stamp = excluded.stamp RETURNING revision"
    )
)
LOCK_TOURNAMENT = Statement(
    select(tables.tournament.c.tournament_id)
    .where(tables.tournament.c.tournament_id == bindparam("own_id"))
    .with_for_update()
)
# In the transaction only, with one round trip.
SET_LIMITS = text(
    "SELECT set_config('lock_timeout', :lock_timeout, true),"
    " set_config('statement_timeout', :statement_timeout, true),"
    " set_config('idle_in_transaction_session_timeout', :idle_in_transaction_session_timeout, true)"
)


class DatabaseIsReadOnly(RuntimeError):
    """A process that only reads was asked to write, which is a fault of the program."""


class Commit(Struct, frozen=True):
    """The news of a committed transaction."""

    # Tournament id -> its new revision.
    tournament_revisions: dict[int, int]
    world_slot: int
    world_revision: int
    # The stamp of all these revisions.
    stamp: int
    # Tournament id -> the newest number of its channel, 0 for a new epoch, CHANNEL_ENDED for an end.
    newest_seqs: dict[int, int]
    changed_user_ids: frozenset[int] = frozenset()
    # The new number of hidings; 0 where this transaction has hidden nothing.
    hidings: int = 0


class Store:
    """One database, and the file of the keys for its secrets. Build it once per process."""

    def __init__(
        self,
        url: str,
        secret_file: Path | None = None,
        *,
        limits: StoreLimits = REQUESTS,
        is_read_only: bool = False,
    ) -> None:
        self.is_read_only = is_read_only
        self.url: URL = make_url(url)
        self.is_sqlite = self.url.get_backend_name() == "sqlite"
        self._limits = limits
        self.measures = DatabaseMeasures()
        # The connections' own settings; transactions with others set them for themselves.
        self._limits_of_connections = limits.read
        self._deadlines = Deadlines()
        self.engine: Engine = (
            _sqlite_engine(self.url, is_read_only=is_read_only)
            if self.is_sqlite
            else create_postgresql_engine(self.url, self._limits_of_connections, self._deadlines)
        )
        self.file = WatchedFile(self.file_beside(""))
        # Only the server of a file looks after it.
        self.health = FileHealth(None if is_read_only else self.file_beside(""), self._begin_anew)
        self.snapshots = SnapshotCache()
        # Only one machine has an SQLite file, so a key made there is known wherever it is needed.
        self.key_file = KeyFile(
            secret_file or self.file_beside(SECRET_FILE_ENDING), may_make=self.is_sqlite and not is_read_only
        )
        self.full_accounts = FullAccounts()
        self.wanted_nights = WantedItems[SimulatedNight]()
        self.wanted_forecasts = WantedItems[int]()
        self._lists = KeptLists()
        options = {
            SNAPSHOTS: self.snapshots,
            LISTS: self._lists,
            encryption.KEYS: self.key_file,
            FULL: self.full_accounts,
            WANTED: self.wanted_nights,
            WANTED_FORECASTS: self.wanted_forecasts,
        }
        self.engine.update_execution_options(**options)
        # SQLite polls for its lock and sleeps in between; writers of this process queue up here instead.
        self._group_commit = GroupCommit(self.engine, self._deadlines)
        # Called in the writer's thread after each commit, before the writer goes on.
        self.after_commit: list[Callable[[Commit], None]] = []

    def with_limits(self, limits: StoreLimits) -> "Store":
        """The same store, with other time limits for its transactions."""
        other = copy.copy(self)
        other._limits = limits
        return other

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """A snapshot to read from."""
        options: dict[str, Any] = {}
        if not self.is_sqlite:
            options = _postgresql_options("REPEATABLE READ READ ONLY")
        with self._limited_connection(self._limits.read, options) as (db, _):
            yield db
            if not self.is_sqlite and not db.invalidated:
                # After a rollback, psycopg forgets all statements that it has prepared.
                db.commit()

    @contextmanager
    def _limited_connection(
        self, limits: TimeLimits, options: dict[str, Any]
    ) -> Iterator[tuple[Connection, Deadline]]:
        with self._deadlines.limit(limits.total_seconds) as deadline, self._pooled_connection() as db:
            if options:
                db = db.execution_options(**options)  # noqa: PLW2901  # the same connection
            deadline.attach(db)
            try:
                if not self.is_sqlite and limits != self._limits_of_connections:
                    db.execute(SET_LIMITS, limits.server_settings)
                yield db, deadline
            except BaseException as error:
                if self.health.notice(error):
                    raise DatabaseDamaged from error
                if deadline.is_over:
                    # Its statement was cancelled, or it was shut down: nobody else is to get it.
                    db.invalidate(error)
                raise

    @contextmanager
    def _pooled_connection(self) -> Iterator[Connection]:
        with self.measures.wait_for_connection():
            connection = self.engine.connect()
        with connection as db:
            yield db

    @contextmanager
    def write(self, tournament_id: int | None = None, *, quiet: bool = False) -> Iterator[Transaction]:
        """A transaction, committed on leaving; with a tournament id it holds that tournament's lock.

        `quiet` is for changes that no answer shows (a token's last use): cached answers stay valid.
        """
        slot = (tournament_id or 0) % WORLD_SLOTS
        began, lock_seconds, is_committed = time.monotonic(), None, False
        try:
            with self._open_transaction(self._limits.write) as transaction:
                db = transaction.connection
                if tournament_id is not None and not self.is_sqlite:
                    LOCK_TOURNAMENT.rows(db, own_id=tournament_id)
                lock_seconds = time.monotonic() - began
                yield transaction
                is_hiding = transaction.hides or transaction.outdates
                hiding_count = hidings.count_hiding(db) if is_hiding else 0
                if not quiet:
                    self._raise_world(transaction, slot)
            is_committed = True
        except BaseException as error:
            if self.health.notice(error):
                raise DatabaseDamaged from error
            raise
        finally:
            self.measures.count_write(time.monotonic() - began, lock_seconds, is_committed=is_committed)
        for loaded in transaction.loaded.values():
            self.snapshots.add(loaded)
        if not quiet:
            commit = Commit(
                transaction.raised_revisions,
                slot,
                transaction.world_revision,
                transaction.stamp,
                transaction.announcements,
                frozenset(transaction.changed_user_ids),
                hiding_count,
            )
            for notify in self.after_commit:
                notify(commit)

    def try_to_write(self) -> None:
        """Take the lock that a write takes, and store nothing. Raises as a write does."""
        with self._open_transaction(self._limits.write) as transaction:
            transaction.connection.execute(select(1))

    def _raise_world(self, transaction: Transaction, slot: int) -> None:
        """Raise the world's revision: its row is locked until the commit, so it is touched last."""
        db, raised = transaction.connection, {"slot": slot, "stamp": world_stamp(transaction.stamp)}
        if self.is_sqlite:
            raised_rows = RAISE_WORLD.rows(db, **raised) or ADD_OR_RAISE_WORLD.rows(db, **raised)
            ((transaction.world_revision,),) = raised_rows
        else:
            transaction.commit = lambda: ADD_OR_RAISE_WORLD.rows_and_commit(db, **raised)

    @contextmanager
    def migration(self) -> Iterator[Connection]:
        """A transaction that may change tables; it raises no revision and publishes nothing."""
        with self._open_transaction(UNLIMITED) as transaction:
            yield transaction.connection

    def _open_transaction(self, limits: TimeLimits) -> AbstractContextManager[Transaction]:
        if self.is_read_only:
            raise DatabaseIsReadOnly
        if self.is_sqlite:
            self.file.require_same()
            self.health.require_sound()
            return self._group_commit.transaction(limits)
        return self._postgresql_transaction(limits)

    @contextmanager
    def _postgresql_transaction(self, limits: TimeLimits) -> Iterator[Transaction]:
        options = {**_postgresql_options("READ COMMITTED READ WRITE"), WRITES: True}
        with self._limited_connection(limits, options) as (db, deadline):
            transaction = Transaction(db)
            yield transaction
            deadline.require_time()
            try:
                if transaction.commit is None:
                    db.commit()
                else:
                    ((transaction.world_revision,),) = transaction.commit()
            except DBAPIError as error:
                # The server may have committed before it fell silent.
                if deadline.is_over or error.connection_invalidated:
                    raise OutcomeUnknown from error
                raise

    def world_state(self) -> WorldState:
        """The generation and the revisions of the world; every commit of every process raises one of them."""
        columns = tables.world.c
        with self.read() as db:
            rows = db.execute(select(columns.slot, columns.revision, columns.stamp)).all()
            generation = stamps.current_generation(db)
            hiding_count = hidings.hiding_count(db)
        slots = {row.slot: Revision(row.revision, row.stamp) for row in rows}
        return WorldState(generation, slots, hiding_count)

    def world_revision(self) -> int:
        """One number that grows with every commit of every process."""
        return sum(revision.number for revision in self.world_state().slots.values())

    def begin_generation(self, known: str) -> None:
        """Draw a new generation in place of the known one, because the database has gone back."""
        with self.write() as transaction:
            stamps.replace_generation(transaction.connection, known)
        LOG.warning("the database has gone back: whoever follows a tournament reads it again")

    def forget(self) -> None:
        """Drop what is kept in memory of the database."""
        self.snapshots.clear()
        self._lists.clear()

    @contextmanager
    def change_probe(self) -> Iterator[Callable[[], bool]]:
        """A cheap function that returns whether another connection may have committed since its last call."""
        if not self.is_sqlite:
            yield lambda: True
            return
        connection = self.engine.raw_connection()
        version = 0

        def has_changed() -> bool:
            nonlocal version
            last_version = version
            # Looked at here too, so that it is noticed where nobody writes.
            self.file.is_same()
            self.health.look()
            if self.health.take_change():
                return True
            try:
                # The number changes when another connection commits, and this one never does.
                (version,) = connection.cursor().execute("PRAGMA data_version").fetchone()
            except sqlite3.Error:
                return True
            return bool(version != last_version)

        try:
            yield has_changed
        finally:
            connection.close()

    def tournament_revisions(self, tournament_ids: list[int]) -> dict[int, Revision]:
        """Tournament id -> revision, without tournaments that do not exist."""
        own = tables.tournament.c
        rows = select(own.tournament_id, own.revision, own.stamp).where(own.tournament_id.in_(tournament_ids))
        with self.read() as db:
            found = db.execute(rows).all()
        return {row.tournament_id: Revision(row.revision, row.stamp) for row in found}

    def file_beside(self, ending: str) -> Path | None:
        """The file beside an SQLite database with this ending; None for other databases."""
        is_file = self.is_sqlite and _has_file(self.url)
        return Path(f"{self.url.database}{ending}") if is_file else None

    def end_within(self, seconds: float) -> None:
        """End every transaction of this process after this time, because the process stops."""
        self._deadlines.end_all_within(seconds)

    def require_session(self) -> None:
        """Raise SessionNotKept when a pooler gives each transaction another session."""
        if not self.is_sqlite:
            require_session(self.engine)

    def disconnect(self) -> None:
        """Close the connections that nobody uses now; others are opened when they are needed."""
        self._group_commit.close()
        self.engine.dispose()

    def close(self) -> None:
        self.disconnect()
        self._deadlines.close()
        self.health.close()

    def _begin_anew(self) -> None:
        """Read the file again, which has changed under the open connections."""
        self.disconnect()
        self.forget()


def _postgresql_options(mode: str) -> dict[str, Any]:
    """The execution options of a transaction in this mode."""
    return {"isolation_level": "AUTOCOMMIT", UNSENT: Unsent(f"BEGIN ISOLATION LEVEL {mode}")}


# Parameters stay out of error messages, which are logged: among them are hashes and addresses.
def _sqlite_engine(url: URL, *, is_read_only: bool) -> Engine:
    if not is_read_only:
        _keep_private(url)
    engine = create_engine(
        url,
        hide_parameters=True,
        pool_size=CONNECTIONS_MAX,
        # The newest first: few have a cache of pages, and it is warm. In memory each thread has its own.
        **({"pool_use_lifo": True} if url.database else {}),
        connect_args={"check_same_thread": False, "timeout": SQLITE_QUEUE_SECONDS, "isolation_level": None},
    )

    @event.listens_for(engine, "connect")
    def _configure(connection: Any, _record: Any) -> None:
        cursor = connection.cursor()
        cursor.execute("PRAGMA journal_mode=WAL")
        # FULL: an acknowledged change survives a power cut.
        cursor.execute("PRAGMA synchronous=FULL")
        cursor.execute("PRAGMA foreign_keys=ON")
        # A log that an import has made large is cut back at the next checkpoint that empties it.
        cursor.execute(f"PRAGMA journal_size_limit={WAL_BYTES_KEPT}")
        # The undo data of a savepoint stays in memory; beyond 64 KB it would go to a file.
        cursor.execute("PRAGMA temp_store=MEMORY")
        if is_read_only:
            cursor.execute("PRAGMA query_only=ON")
        cursor.close()
        connection.create_function("silverball_folded", 1, names.fold, deterministic=True)

    @event.listens_for(engine, "begin")
    def _begin(db: Connection) -> None:
        is_writer = db.get_execution_options().get(WRITES, False)
        statements.run_begun(db, BEGIN_TO_WRITE if is_writer else "BEGIN")

    return engine


def _keep_private(url: URL) -> None:
    """Make or tighten the files of an SQLite database; SQLite gives the files beside it the same mode."""
    if not _has_file(url):
        return
    files.create_or_tighten(Path(url.database or ""))
    for ending in SQLITE_FILES_BESIDE:
        files.tighten(Path(f"{url.database}{ending}"))


def _has_file(url: URL) -> bool:
    return bool(url.database) and url.database != ":memory:" and not str(url.database).startswith("file:")
