"""Writers of one SQLite file take turns and share commits, and a failing writer harms no other."""

import shutil
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import event, func, insert, select
from sqlalchemy.exc import IntegrityError, OperationalError

import build
from silverball.store import tables
from silverball.store.database import group_commit
from silverball.store.database.engine import Store

WRITERS = 24


@pytest.fixture
def sqlite(empty_sqlite: Path, tmp_path: Path) -> Store:
    shutil.copy(empty_sqlite, tmp_path / "writers.db")
    return Store(f"sqlite:///{tmp_path / 'writers.db'}")


def _names(store: Store) -> set[str]:
    with store.read() as db:
        return set(db.execute(select(tables.user.c.name)).scalars())


def _write(store: Store, name: str, *, fails: bool = False) -> None:
    with store.write() as transaction:
        transaction.connection.execute(insert(tables.user).values({**build.DEFAULTS["user"], "name": name}))
        if fails:
            raise RuntimeError(name)


def test_a_failing_writer_rolls_back_only_their_own_work(sqlite: Store) -> None:
    def work(number: int) -> bool:
        try:
            _write(sqlite, f"writer {number}", fails=number % 3 == 0)
        except RuntimeError:
            return False
        return True

    with ThreadPoolExecutor(WRITERS) as pool:
        succeeded = list(pool.map(work, range(WRITERS)))
    assert succeeded == [number % 3 != 0 for number in range(WRITERS)]
    assert _names(sqlite) == {f"writer {number}" for number in range(WRITERS) if number % 3}
    sqlite.close()


def test_writers_keep_their_connection_until_one_fails_alone(sqlite: Store) -> None:
    taken: list[int] = []
    event.listen(sqlite.engine, "checkout", lambda _driver, _record, _proxy: taken.append(1))
    _write(sqlite, "first")
    _write(sqlite, "second")
    assert len(taken) == 1
    with pytest.raises(RuntimeError):
        _write(sqlite, "failing", fails=True)
    _write(sqlite, "last")
    assert len(taken) == 2
    assert _names(sqlite) == {"first", "second", "last"}
    sqlite.close()
    assert sqlite.engine.pool.checkedout() == 0  # type: ignore[attr-defined]  # a pool of the usual kind


def test_queueing_writers_share_a_commit(sqlite: Store) -> None:
    commits: list[int] = []

    @event.listens_for(sqlite.engine, "connect")
    def _count_commits(driver: Any, _record: Any) -> None:
        driver.set_trace_callback(lambda statement: commits.append(1) if statement == "COMMIT" else None)

    gate = threading.Barrier(WRITERS)

    def work(number: int) -> None:
        gate.wait()
        _write(sqlite, f"writer {number}")

    with ThreadPoolExecutor(WRITERS) as pool:
        list(pool.map(work, range(WRITERS)))
    assert len(_names(sqlite)) == WRITERS
    assert 1 <= len(commits) < WRITERS
    sqlite.close()


def test_a_write_returns_only_after_it_is_committed(sqlite: Store) -> None:
    was_committed: list[bool] = []

    def work(number: int) -> None:
        _write(sqlite, f"writer {number}")
        was_committed.append(f"writer {number}" in _names(sqlite))

    with ThreadPoolExecutor(WRITERS) as pool:
        list(pool.map(work, range(WRITERS)))
    assert was_committed == [True] * WRITERS
    sqlite.close()


def test_a_failed_commit_raises_in_every_writer(sqlite: Store) -> None:
    outcomes: list[str] = []

    def work(number: int) -> None:
        try:
            with sqlite.write() as transaction:
                db = transaction.connection
                # The database looks at this when it commits.
                db.exec_driver_sql("PRAGMA defer_foreign_keys = ON")
                session = {"user_id": 404, "csrf": "", "created_at": build.NOW, "expires_at": build.NOW}
                db.execute(insert(tables.session).values(hash=f"{number}", **session))
            outcomes.append("committed")
        except IntegrityError as error:
            outcomes.append(str(error.orig))

    with ThreadPoolExecutor(WRITERS) as pool:
        list(pool.map(work, range(WRITERS)))
    assert outcomes == ["FOREIGN KEY constraint failed"] * WRITERS
    _write(sqlite, "somebody")
    with sqlite.read() as db:
        assert db.execute(select(func.count()).select_from(tables.session)).scalar_one() == 0
        assert db.execute(select(func.count()).select_from(tables.user)).scalar_one() == 1
    sqlite.close()


def test_a_full_disk_raises_in_every_writer_of_the_transaction(sqlite: Store) -> None:
    @event.listens_for(sqlite.engine, "checkout")
    def _limit(connection: Any, *_rest: Any) -> None:
        # As many pages as there are already: small rows fit into them, a large one does not.
        connection.execute("PRAGMA max_page_count=1")

    is_inside, outcomes = threading.Event(), {}

    def fill_up() -> None:
        is_inside.wait()
        try:
            with sqlite.write() as transaction:
                # SQLite can undo a statement alone only where it has triggers.
                large = insert(tables.site_value).values(name="large", value="x" * 100_000)
                transaction.connection.execute(large)
            outcomes["large"] = "committed"
        except OperationalError as error:
            outcomes["large"] = str(error.orig)

    second = threading.Thread(target=fill_up)
    second.start()
    with pytest.raises(OperationalError, match="disk is full"), sqlite.write() as transaction:
        transaction.connection.execute(
            insert(tables.user).values({**build.DEFAULTS["user"], "name": "small"})
        )
        is_inside.set()
        # Long enough for the other writer to wait for this transaction.
        time.sleep(0.3)
    second.join()
    assert outcomes == {"large": "database or disk is full"}
    assert _names(sqlite) == set()
    sqlite.close()


def test_a_writer_notices_soon_that_another_process_is_ready(sqlite: Store) -> None:
    # A store of its own waits as another process does, by SQLite's lock of the file.
    other, is_held = Store(str(sqlite.url)), threading.Event()

    def hold() -> None:
        with other.write(quiet=True):
            is_held.set()
            # For several looks.
            time.sleep(10 * group_commit.LOOK_SECONDS)

    holder = threading.Thread(target=hold)
    holder.start()
    is_held.wait()
    with sqlite.write(quiet=True) as transaction:
        # SQLite by itself would look every tenth of a second in the end.
        waits = transaction.connection.exec_driver_sql("PRAGMA busy_timeout").scalar_one()
    holder.join()
    assert waits == round(group_commit.LOOK_SECONDS * 1_000) < 100
    other.close()
    sqlite.close()


def test_a_writer_gives_up_when_another_process_does_not_end(
    sqlite: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(group_commit, "SQLITE_QUEUE_SECONDS", 0.1)
    other = Store(str(sqlite.url))
    with other.write(quiet=True), pytest.raises(OperationalError, match="locked"):
        _write(sqlite, "nobody")
    _write(sqlite, "somebody")
    assert _names(sqlite) == {"somebody"}
    other.close()
    sqlite.close()
