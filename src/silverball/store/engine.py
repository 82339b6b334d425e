"""The database as the rest of the house sees it: `read()` and `write(...)`.

A read is a snapshot: everything inside one `with store.read() as db` is from the same moment.
A write of a tournament holds that tournament's lock from its first statement on, so there is one
writer per tournament; SQLite has one writer in all. The edge commits by leaving the `with`.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event, func, insert, make_url, select, text, update
from sqlalchemy.engine import URL

from silverball.store import tables

SQLITE_BUSY_SECONDS = 30
CONNECTIONS_MAX = 24
WORLD_SLOTS = 16


class Store:
    """One database. Build it once per process and hand its `read` and `write` around."""

    def __init__(self, url: str) -> None:
        self.url: URL = make_url(url)
        self.is_sqlite = self.url.get_backend_name() == "sqlite"
        self.engine: Engine = _sqlite_engine(self.url) if self.is_sqlite else _postgresql_engine(self.url)
        # SQLite's own waiting is a poll with sleeps; writers of this process queue up here instead.
        self._writer = threading.Lock()

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """A snapshot to read from."""
        with self.engine.connect() as db:
            if not self.is_sqlite:
                db = db.execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True)  # noqa: PLW2901
            yield db

    @contextmanager
    def write(self, tournament_id: int | None = None) -> Iterator[Connection]:
        """A transaction, committed on leaving; with a tournament id it holds that tournament's lock."""
        if self.is_sqlite:
            with self._writer, self.engine.connect() as db:
                db = db.execution_options(silverball_immediate=True)  # noqa: PLW2901
                with db.begin():
                    yield db
                    _raise_world(db, tournament_id)
            return
        with self.engine.connect() as db:
            db = db.execution_options(isolation_level="READ COMMITTED", postgresql_readonly=False)  # noqa: PLW2901
            with db.begin():
                if tournament_id is not None:
                    lock = select(tables.tournament.c.tournament_id).where(
                        tables.tournament.c.tournament_id == tournament_id
                    )
                    db.execute(lock.with_for_update())
                yield db
                _raise_world(db, tournament_id)

    def world_revision(self) -> int:
        """One number that grows with every commit of every process."""
        with self.read() as db:
            total = db.execute(select(func.sum(tables.world.c.revision))).scalar_one()
        return int(total or 0)

    def tournament_revisions(self, tournament_ids: list[int]) -> dict[int, int]:
        """The revisions of these tournaments; one that is gone is left out."""
        columns = (tables.tournament.c.tournament_id, tables.tournament.c.revision)
        with self.read() as db:
            rows = db.execute(select(*columns).where(columns[0].in_(tournament_ids))).all()
        return {row.tournament_id: row.revision for row in rows}

    def is_answering(self) -> bool:
        """Whether the database answers at all."""
        with self.engine.connect() as db:
            return bool(db.execute(select(text("1"))).scalar_one() == 1)

    def close(self) -> None:
        self.engine.dispose()


def _raise_world(db: Connection, tournament_id: int | None) -> None:
    # The row is locked until the commit, so it is touched last.
    slot = (tournament_id or 0) % WORLD_SLOTS
    raised = db.execute(
        update(tables.world).where(tables.world.c.slot == slot).values(revision=tables.world.c.revision + 1)
    )
    if raised.rowcount == 0:
        db.execute(insert(tables.world).values(slot=slot, revision=1))


def _sqlite_engine(url: URL) -> Engine:
    engine = create_engine(
        url,
        pool_size=CONNECTIONS_MAX,
        connect_args={"check_same_thread": False, "timeout": SQLITE_BUSY_SECONDS, "isolation_level": None},
    )

    @event.listens_for(engine, "connect")
    def _configure(connection: Any, _record: Any) -> None:
        cursor = connection.cursor()
        cursor.execute("PRAGMA journal_mode=WAL")
        # FULL: what was acknowledged survives a power cut.
        cursor.execute("PRAGMA synchronous=FULL")
        cursor.execute("PRAGMA foreign_keys=ON")
        cursor.execute("PRAGMA cache_size=-8000")
        cursor.close()

    @event.listens_for(engine, "begin")
    def _begin(db: Connection) -> None:
        immediate = db.get_execution_options().get("silverball_immediate", False)
        # A reader that became a writer later could be refused; a writer says so at once.
        db.exec_driver_sql("BEGIN IMMEDIATE" if immediate else "BEGIN")

    return engine


def _postgresql_engine(url: URL) -> Engine:
    return create_engine(url, pool_size=CONNECTIONS_MAX, pool_pre_ping=True)
