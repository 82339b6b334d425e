"""A process says that it cannot serve when its database is full, locked or silent, and never hangs."""

import sqlite3
import time
from pathlib import Path

import pytest
from sqlalchemy import event, make_url, select

from conftest import PostgreSQL
from silverball.store import tables
from silverball.store.database.deadlines import OutcomeUnknown
from silverball.store.database.engine import Store
from silverball.store.database.faults import DatabaseFault
from silverball.store.database.migrate import ANSWER_KEPT_SECONDS, PROBE_SECONDS, Readiness
from tcp_proxy import TcpProxy

pytestmark = pytest.mark.both_databases


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def _probes(store: Store) -> str | None:
    with store.read() as db:
        row = select(tables.site_value.c.value).where(tables.site_value.c.name == "ready-probe")
        return db.execute(row).scalar_one_or_none()


def test_the_database_is_written_to_now_and_then_only(store: Store) -> None:
    clock = Clock()
    readiness = Readiness(store, clock)
    assert readiness.check()
    assert _probes(store) == "1"
    clock.now += ANSWER_KEPT_SECONDS
    assert readiness.check()
    assert _probes(store) == "1"
    clock.now += PROBE_SECONDS
    assert readiness.check()
    assert _probes(store) == "2"


def test_after_a_commit_nothing_is_written_to_try(store: Store) -> None:
    readiness = Readiness(store, Clock())
    with store.write():
        pass
    assert readiness.check()
    assert _probes(store) is None


def test_a_locked_database_is_not_ready_until_the_lock_is_gone(tmp_path: Path, empty_sqlite: Path) -> None:
    file = tmp_path / "locked.db"
    file.write_bytes(empty_sqlite.read_bytes())
    store, clock = Store(f"sqlite:///{file}"), Clock()
    readiness = Readiness(store, clock)
    other = sqlite3.connect(file, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    began = time.monotonic()
    assert not readiness.check(0.3)
    asked_again = time.monotonic()
    clock.now += 0.3
    assert not readiness.check(0.3)
    # The second does not wait for the database.
    assert time.monotonic() - asked_again < asked_again - began
    other.execute("ROLLBACK")
    other.close()
    assert _is_ready_soon(readiness, clock)
    store.close()


def test_a_full_disk_is_not_ready(tmp_path: Path, empty_sqlite: Path) -> None:
    file = tmp_path / "full.db"
    file.write_bytes(empty_sqlite.read_bytes())
    store, clock = Store(f"sqlite:///{file}"), Clock()
    readiness = Readiness(store, clock)

    @event.listens_for(store.engine, "before_cursor_execute")
    def _refuse(_db: object, cursor: sqlite3.Cursor, statement: str, *_: object) -> None:
        if statement.startswith("INSERT INTO site_value") and is_full:
            # What SQLite reports when a page cannot be added.
            pages = cursor.connection.execute("PRAGMA page_count").fetchone()[0]
            cursor.connection.execute(f"PRAGMA max_page_count = {pages}")
            cursor.connection.execute("CREATE TABLE more AS SELECT zeroblob(100000) AS filler")

    is_full = True
    assert not readiness.check(5)
    is_full = False
    assert _is_ready_soon(readiness, clock)
    store.close()


def test_a_silent_postgresql_is_not_ready_and_is_asked_once(postgresql: PostgreSQL) -> None:
    target = make_url(postgresql.new_database())
    with TcpProxy(postgresql.folder / ".s.PGSQL.5432") as proxy:
        address = f"postgresql+psycopg://silverball@127.0.0.1:{proxy.port}/{target.database}"
        store, clock = Store(address), Clock()
        readiness = Readiness(store, clock)
        assert readiness.check(10)
        proxy.blackhole()
        clock.now += ANSWER_KEPT_SECONDS
        assert not readiness.check(0.5)
        clock.now += 0.5
        for _ in range(20):
            assert not readiness.check(0.5)
        assert store.engine.pool.checkedout() <= 1  # type: ignore[attr-defined]  # a pool of the usual kind
        proxy.forward()
        assert _is_ready_soon(readiness, clock)
        store.close()


def test_a_postgresql_that_falls_silent_at_the_commit_leaves_the_outcome_unknown(
    postgresql: PostgreSQL,
) -> None:
    target = make_url(postgresql.new_database())
    with TcpProxy(postgresql.folder / ".s.PGSQL.5432") as proxy:
        store = Store(f"postgresql+psycopg://silverball@127.0.0.1:{proxy.port}/{target.database}")
        with pytest.raises(OutcomeUnknown), store.write() as transaction:
            transaction.connection.execute(select(1))
            proxy.blackhole()
        # Silence is an answer for whoever asks whether writes come back.
        with pytest.raises(DatabaseFault):
            store.try_to_write()
        proxy.forward()
        store.close()


def _is_ready_soon(readiness: Readiness, clock: Clock) -> bool:
    for _ in range(200):
        clock.now += PROBE_SECONDS
        if readiness.check(0.5):
            return True
        time.sleep(0.05)
    return False


@pytest.mark.parametrize("reason", ["no tables", "no file"])
def test_a_database_without_what_it_needs_is_not_ready(reason: str, tmp_path: Path) -> None:
    folder = tmp_path / "missing" if reason == "no file" else tmp_path
    store = Store(f"sqlite:///{folder / 'new.db'}")
    assert not Readiness(store).check(10)
    store.close()
