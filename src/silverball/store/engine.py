"""The database: `read()` for a snapshot, `write(...)` for a transaction.

All that one `with store.read() as db` reads is from the same moment. A write of a tournament holds
that tournament's lock from its first statement on, so there is one writer per tournament; SQLite has
one writer in all. Leaving `with store.write(...) as transaction` commits.
"""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event, make_url, select, text
from sqlalchemy.engine import URL

from silverball.kit import encryption, private_files
from silverball.kit.encryption import KeyFile
from silverball.store import named_rows, names, tables
from silverball.store.account_storage import FULL, FullAccounts
from silverball.store.group_commit import GroupCommit
from silverball.store.kept_lists import LISTS, KeptLists
from silverball.store.loaded import SNAPSHOTS, SnapshotCache
from silverball.store.transaction import WRITES, Transaction

# For rooms that hand a connection on without speaking SQL themselves.
Db = Connection
SQLITE_BUSY_SECONDS = 30
SQLITE_FILES_BESIDE = ("-wal", "-shm", "-journal")
SECRET_FILE_ENDING = ".secret"  # noqa: S105  # the ending of a name
CONNECTIONS_MAX = 24
WORLD_SLOTS = 16
RAISE_WORLD = text(
    "INSERT INTO world (slot, revision) VALUES (:slot, 1)"
    " ON CONFLICT (slot) DO UPDATE SET revision = world.revision + 1 RETURNING revision"
)


@dataclass(frozen=True)
class Commit:
    """The news of a committed transaction."""

    # Tournament id -> its new revision.
    tournament_revisions: dict[int, int]
    world_slot: int
    world_revision: int
    # Tournament id -> the newest number of its channel, 0 for a new epoch, CHANNEL_ENDED for an end.
    newest_seqs: dict[int, int]
    changed_user_ids: frozenset[int] = frozenset()


class Store:
    """One database, and the file of the keys for its secrets. Build it once per process."""

    def __init__(self, url: str, secret_file: Path | None = None) -> None:
        self.url: URL = make_url(url)
        self.is_sqlite = self.url.get_backend_name() == "sqlite"
        self.engine: Engine = _sqlite_engine(self.url) if self.is_sqlite else _postgresql_engine(self.url)
        self.snapshots = SnapshotCache()
        # Only one machine has an SQLite file, so a key made there is known wherever it is needed.
        self.key_file = KeyFile(secret_file or _file_beside(self.url), may_make=self.is_sqlite)
        self.full_accounts = FullAccounts()
        options = {
            SNAPSHOTS: self.snapshots,
            LISTS: KeptLists(),
            encryption.KEYS: self.key_file,
            FULL: self.full_accounts,
        }
        self.engine.update_execution_options(**options)
        # SQLite polls for its lock and sleeps in between; writers of this process queue up here instead.
        self._group_commit = GroupCommit(self.engine)
        # Called in the writer's thread after each commit, before the writer goes on.
        self.after_commit: list[Callable[[Commit], None]] = []

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """A snapshot to read from."""
        with self.engine.connect() as db:
            if not self.is_sqlite:
                db = db.execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True)  # noqa: PLW2901  # the same connection
            yield db

    @contextmanager
    def write(self, tournament_id: int | None = None, *, quiet: bool = False) -> Iterator[Transaction]:
        """A transaction, committed on leaving; with a tournament id it holds that tournament's lock.

        `quiet` is for changes that no answer shows (a token's last use): cached answers stay valid.
        """
        slot = (tournament_id or 0) % WORLD_SLOTS
        with self._open_transaction() as transaction:
            db = transaction.connection
            if tournament_id is not None and not self.is_sqlite:
                column = tables.tournament.c.tournament_id
                db.execute(select(column).where(column == tournament_id).with_for_update())
            yield transaction
            # The row is locked until the commit, so it is touched last.
            world_revision = 0 if quiet else db.execute(RAISE_WORLD, {"slot": slot}).scalar_one()
        for loaded in transaction.loaded.values():
            self.snapshots.add(loaded)
        if not quiet:
            commit = Commit(
                transaction.raised_revisions,
                slot,
                world_revision,
                transaction.announcements,
                frozenset(transaction.changed_user_ids),
            )
            for notify in self.after_commit:
                notify(commit)

    @contextmanager
    def migration(self) -> Iterator[Connection]:
        """A transaction that may change tables; it raises no revision and publishes nothing."""
        with self._open_transaction() as transaction:
            yield transaction.connection

    @contextmanager
    def _open_transaction(self) -> Iterator[Transaction]:
        if self.is_sqlite:
            with self._group_commit.transaction() as transaction:
                yield transaction
            return
        options: dict[str, Any] = {"isolation_level": "READ COMMITTED", "postgresql_readonly": False}
        with self.engine.connect() as db:
            db = db.execution_options(**options, **{WRITES: True})  # noqa: PLW2901  # the same connection
            with db.begin():
                yield Transaction(db)

    def world_slots(self) -> dict[int, int]:
        """The revisions of the world's slots; every commit of every process raises one of them."""
        with self.read() as db:
            rows = db.execute(select(tables.world.c.slot, tables.world.c.revision)).all()
        return {row.slot: row.revision for row in rows}

    def world_revision(self) -> int:
        """One number that grows with every commit of every process."""
        return sum(self.world_slots().values())

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

    def tournament_revisions(self, tournament_ids: list[int]) -> dict[int, int]:
        """Tournament id -> revision, without tournaments that do not exist."""
        columns = (tables.tournament.c.tournament_id, tables.tournament.c.revision)
        with self.read() as db:
            rows = db.execute(select(*columns).where(columns[0].in_(tournament_ids))).all()
        return {row.tournament_id: row.revision for row in rows}

    def close(self) -> None:
        self.engine.dispose()


# Parameters stay out of error messages, which are logged: among them are hashes and addresses.
def _sqlite_engine(url: URL) -> Engine:
    _keep_private(url)
    engine = create_engine(
        url,
        hide_parameters=True,
        pool_size=CONNECTIONS_MAX,
        connect_args={"check_same_thread": False, "timeout": SQLITE_BUSY_SECONDS, "isolation_level": None},
    )

    @event.listens_for(engine, "connect")
    def _configure(connection: Any, _record: Any) -> None:
        cursor = connection.cursor()
        cursor.execute("PRAGMA journal_mode=WAL")
        # FULL: an acknowledged change survives a power cut.
        cursor.execute("PRAGMA synchronous=FULL")
        cursor.execute("PRAGMA foreign_keys=ON")
        cursor.execute("PRAGMA cache_size=-8000")
        # The undo data of a savepoint stays in memory; beyond 64 KB it would go to a file.
        cursor.execute("PRAGMA temp_store=MEMORY")
        cursor.close()
        connection.create_function("silverball_folded", 1, names.fold, deterministic=True)

    @event.listens_for(engine, "begin")
    def _begin(db: Connection) -> None:
        if db.get_execution_options().get(WRITES, False):
            # A reader that became a writer later could be refused, so a writer takes the lock at once.
            db.exec_driver_sql("BEGIN IMMEDIATE")
        else:
            named_rows.begin_read(db)

    return engine


def _keep_private(url: URL) -> None:
    """Make or tighten the files of an SQLite database; SQLite gives the files beside it the same mode."""
    if not _has_file(url):
        return
    private_files.create_or_tighten(Path(url.database or ""))
    for ending in SQLITE_FILES_BESIDE:
        private_files.tighten(Path(f"{url.database}{ending}"))


def _file_beside(url: URL) -> Path | None:
    """The key file of an SQLite database where no setting names another; None for other databases."""
    is_file = url.get_backend_name() == "sqlite" and _has_file(url)
    return Path(f"{url.database}{SECRET_FILE_ENDING}") if is_file else None


def _has_file(url: URL) -> bool:
    return bool(url.database) and url.database != ":memory:" and not str(url.database).startswith("file:")


def _postgresql_engine(url: URL) -> Engine:
    return create_engine(url, hide_parameters=True, pool_size=CONNECTIONS_MAX, pool_pre_ping=True)
