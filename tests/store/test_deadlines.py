"""A transaction ends in time, whatever it waits for, and nothing of it is kept."""

import shutil
import sqlite3
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from sqlalchemy import insert, select, text
from sqlalchemy.exc import OperationalError

import build
from patience import PATIENCE_SECONDS
from silverball.kit.values import replace
from silverball.store import tables
from silverball.store.database import faults
from silverball.store.database.deadlines import (
    COMMANDS,
    JOBS,
    LONG_COMMANDS,
    REQUEST,
    REQUESTS,
    ProcessIsStopping,
    StoreLimits,
    TransactionTookTooLong,
)
from silverball.store.database.engine import Store
from silverball.store.database.group_commit import DatabaseBusy

pytestmark = pytest.mark.both_databases

SHORT_SECONDS = 0.3
SHORT = StoreLimits(
    read=replace(REQUEST, total_seconds=SHORT_SECONDS), write=replace(REQUEST, total_seconds=SHORT_SECONDS)
)
SETTINGS = ("lock_timeout", "statement_timeout", "idle_in_transaction_session_timeout")
ENDLESS = text("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n")


@pytest.fixture
def postgresql_store(postgresql: object, request: pytest.FixtureRequest) -> Iterator[Store]:
    cluster = request.getfixturevalue("postgresql")
    url = cluster.new_database()
    store = Store(url)
    yield store
    store.close()
    cluster.drop(url)


@pytest.fixture
def sqlite_store(empty_sqlite: Path, tmp_path: Path) -> Iterator[Store]:
    shutil.copy(empty_sqlite, tmp_path / "held.db")
    store = Store(f"sqlite:///{tmp_path / 'held.db'}")
    yield store
    store.close()


def names(store: Store) -> set[str]:
    with store.read() as db:
        return set(db.execute(select(tables.user.c.name)).scalars())


def write_and_wait(store: Store, name: str, seconds: float) -> None:
    with store.write() as transaction:
        transaction.connection.execute(insert(tables.user).values({**build.DEFAULTS["user"], "name": name}))
        time.sleep(seconds)


def test_a_transaction_that_lasts_too_long_is_not_committed(store: Store) -> None:
    with pytest.raises(TransactionTookTooLong):
        write_and_wait(store.with_limits(SHORT), "late", 2 * SHORT_SECONDS)
    write_and_wait(store, "in time", 0)
    assert names(store) == {"in time"}


@pytest.mark.parametrize("opened", ["read", "write"])
def test_a_statement_that_runs_too_long_is_ended(store: Store, opened: str) -> None:
    with pytest.raises(TransactionTookTooLong), getattr(store.with_limits(SHORT), opened)() as transaction:
        db = transaction if opened == "read" else transaction.connection
        db.execute(ENDLESS if store.is_sqlite else text("SELECT pg_sleep(30)"))
    write_and_wait(store, "next", 0)
    assert names(store) == {"next"}


def test_a_statement_that_is_ended_is_ended_in_the_database_too(postgresql_store: Store) -> None:
    with (
        pytest.raises(TransactionTookTooLong),
        postgresql_store.with_limits(SHORT).write() as transaction,
    ):
        transaction.connection.execute(text("SELECT pg_sleep(30)"))
    running = text(
        "SELECT count(*) FROM pg_stat_activity WHERE query LIKE '%pg_sleep(30)' AND state = 'active'"
    )
    until = time.monotonic() + PATIENCE_SECONDS
    count = 1
    while count and time.monotonic() < until:
        with postgresql_store.read() as db:
            count = db.execute(running).scalar_one()
    assert count == 0


def test_a_lock_is_waited_for_two_seconds(postgresql_store: Store) -> None:
    tournament_id = build.a_tournament(postgresql_store).tournament_id
    begun_at = time.monotonic()
    with postgresql_store.write(tournament_id):
        with pytest.raises(OperationalError) as caught, postgresql_store.write(tournament_id):
            pass
        assert time.monotonic() - begun_at > 1.5
    assert faults.is_transient(caught.value)


def test_the_database_has_the_limits_of_requests_jobs_and_commands(postgresql_store: Store) -> None:
    def limits_inside(store: Store) -> list[str]:
        with store.write() as transaction:
            return [transaction.connection.execute(text(f"SHOW {name}")).scalar_one() for name in SETTINGS]

    assert limits_inside(postgresql_store) == ["2s", "5s", "5s"]
    assert limits_inside(postgresql_store.with_limits(JOBS)) == ["1s", "2s", "5s"]
    assert limits_inside(postgresql_store.with_limits(COMMANDS)) == ["2s", "5s", "5s"]
    assert limits_inside(postgresql_store.with_limits(LONG_COMMANDS)) == ["5s", "10min", "1min"]
    # Those of a job end with its transaction.
    assert limits_inside(postgresql_store.with_limits(REQUESTS)) == ["2s", "5s", "5s"]


def test_a_statement_has_no_parallel_workers(postgresql_store: Store) -> None:
    with postgresql_store.read() as db:
        assert db.execute(text("SHOW max_parallel_workers_per_gather")).scalar_one() == "0"


def test_settings_in_the_url_come_before_ours(postgresql: object, request: pytest.FixtureRequest) -> None:
    cluster = request.getfixturevalue("postgresql")
    store = Store(cluster.url("template") + "&options=-c%20lock_timeout%3D7s&connect_timeout=9")
    with store.read() as db:
        assert [db.execute(text(f"SHOW {name}")).scalar_one() for name in SETTINGS] == ["7s", "5s", "5s"]
    store.close()


# SQLite


def test_all_who_wait_for_another_process_are_refused_together(sqlite_store: Store) -> None:
    holder = sqlite3.connect(str(sqlite_store.url.database), isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")

    def wait(number: int) -> bool:
        with pytest.raises((DatabaseBusy, OperationalError)) as caught:
            write_and_wait(sqlite_store, f"writer {number}", 0)
        return isinstance(caught.value, DatabaseBusy) or faults.is_transient(caught.value)

    with ThreadPoolExecutor(50) as pool:
        assert all(pool.map(wait, range(50)))
    holder.execute("ROLLBACK")
    holder.close()
    write_and_wait(sqlite_store, "afterwards", 0)
    assert names(sqlite_store) == {"afterwards"}


def test_writers_who_share_a_commit_with_one_that_is_ended_are_told(sqlite_store: Store) -> None:
    """SQLite gives up the whole transaction when a changing statement is interrupted."""
    outcomes: dict[str, str] = {}
    is_inside = threading.Event()

    def insert_endlessly() -> None:
        endless = text(f'UPDATE "user" SET name = ({ENDLESS})')
        is_inside.wait()
        try:
            with sqlite_store.with_limits(SHORT).write() as transaction:
                transaction.connection.execute(endless)
        except TransactionTookTooLong:
            outcomes["endless"] = "ended"

    second = threading.Thread(target=insert_endlessly)
    second.start()
    with pytest.raises(TransactionTookTooLong), sqlite_store.write() as transaction:
        transaction.connection.execute(
            insert(tables.user).values({**build.DEFAULTS["user"], "name": "first"})
        )
        is_inside.set()
        # Long enough for the other writer to wait for this transaction.
        time.sleep(0.3)
    second.join()
    assert outcomes == {"endless": "ended"}
    assert names(sqlite_store) == set()
    write_and_wait(sqlite_store, "afterwards", 0)
    assert names(sqlite_store) == {"afterwards"}


def test_a_writer_who_stops_waiting_leaves_no_transaction_open(
    sqlite_store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Many stop waiting just when their turn comes."""
    monkeypatch.setattr("silverball.store.database.group_commit.SQLITE_QUEUE_SECONDS", 0.02)
    outcomes: list[bool] = []

    def write(number: int) -> None:
        try:
            write_and_wait(sqlite_store, f"writer {number}", 0.005)
            outcomes.append(True)
        except (DatabaseBusy, OperationalError):
            outcomes.append(False)

    with ThreadPoolExecutor(16) as pool:
        list(pool.map(write, range(200)))
    assert len(names(sqlite_store)) == outcomes.count(True)
    write_and_wait(sqlite_store, "afterwards", 0)


def test_a_store_that_was_closed_watches_its_next_transaction(store: Store) -> None:
    write_and_wait(store, "before", 0)
    store.close()
    with pytest.raises(TransactionTookTooLong):
        write_and_wait(store.with_limits(SHORT), "late", 2 * SHORT_SECONDS)
    assert names(store) == {"before"}


# A process that stops


@pytest.mark.parametrize("limits", [REQUESTS, JOBS, COMMANDS], ids=["requests", "jobs", "commands"])
def test_a_stopping_process_ends_what_is_open_and_begins_nothing(store: Store, limits: StoreLimits) -> None:
    with pytest.raises(TransactionTookTooLong), store.with_limits(limits).read() as db:
        store.end_within(SHORT_SECONDS)
        db.execute(ENDLESS if store.is_sqlite else text("SELECT pg_sleep(30)"))
    for opened in (store.with_limits(limits).read, store.with_limits(limits).write):
        with pytest.raises(ProcessIsStopping), opened():
            pass
