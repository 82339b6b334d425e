"""A transaction that pauses ends, on PostgreSQL, also after statements that were sent together."""

import inspect
import time
from collections.abc import Callable

import psycopg
import pytest
from sqlalchemy import Connection, bindparam, select, text, update
from sqlalchemy.exc import DBAPIError

from conftest import PostgreSQL
from silverball.kit.values import replace
from silverball.store import tables
from silverball.store.database.deadlines import REQUESTS, StoreLimits
from silverball.store.database.engine import Store
from silverball.store.database.statements import Statement, rows_of_all
from silverball.store.database.transaction import Transaction

pytestmark = pytest.mark.both_databases

_V = tables.site_value
PAUSE_SECONDS = 1.0
# The answer comes later than the last that the driver sends.
SLOW = Statement(text("SELECT pg_sleep(0.3)"))
SLOW_INSERT = Statement(
    text("INSERT INTO site_value (name, value) SELECT :name, :value FROM (SELECT pg_sleep(0.003)) AS slept")
)
INSERT = Statement(text("INSERT INTO site_value (name, value) VALUES (:name, :value)"))
ONE = Statement(text("SELECT 1"))
VALUES = Statement(text("SELECT value FROM site_value WHERE name >= 'test' AND name < 'tesu'"))


def one_by_one(db: Connection) -> None:
    db.execute(text("UPDATE site_value SET value = 'x'"))


def unsent_with_a_select(db: Connection) -> None:
    INSERT.run(db, name="test", value="")
    SLOW.rows(db)


def several_selects(db: Connection) -> None:
    rows_of_all(db, {"one": ONE, "slow": SLOW})


def many_rows(db: Connection) -> None:
    SLOW_INSERT.run_many(db, [{"name": f"test {n}", "value": ""} for n in range(100)])


def many_rows_of_sqlalchemy(db: Connection) -> None:
    change = update(_V).where(_V.c.name == bindparam("own"))
    db.execute(change.values(value="y"), [{"own": "a"}, {"own": "b"}])


@pytest.mark.parametrize(
    "work", [one_by_one, unsent_with_a_select, several_selects, many_rows, many_rows_of_sqlalchemy]
)
def test_a_pause_in_a_transaction_ends_it(postgresql: PostgreSQL, work: Callable[[Connection], None]) -> None:
    write = replace(REQUESTS.write, pause_seconds=PAUSE_SECONDS, total_seconds=20)
    store = Store(postgresql.new_database(), limits=StoreLimits(read=REQUESTS.read, write=write))
    with pytest.raises(DBAPIError, match="idle-in-transaction"), store.write() as transaction:
        work(transaction.connection)
        time.sleep(PAUSE_SECONDS + 1)
        ONE.rows(transaction.connection)
    with store.read() as db:
        assert db.execute(select(_V.c.name).where(_V.c.name.startswith("test"))).all() == []
    store.close()


def test_psycopg_ends_a_batch_as_our_connections_replace_it() -> None:
    """The private parts of psycopg that `BatchConnection` replaces and calls: look at it when they change."""
    end = inspect.getsource(psycopg.Pipeline._exit_gen).rpartition('"""')[2]
    assert [line.strip() for line in end.strip().splitlines()] == [
        "try:",
        "self._enqueue_sync()",
        "yield from self._communicate_gen()",
        "finally:",
        "yield from self._fetch_gen(flush=True)",
    ]
    assert "self._exit_gen()" in inspect.getsource(psycopg.Pipeline.__exit__)
    assert "self._conn._pipeline_nolock()" in inspect.getsource(psycopg.Cursor.executemany)


def test_a_batch_larger_than_what_the_line_holds_is_sent_whole(store: Store) -> None:
    """In both directions: the answers to the first statements arrive while the last are not sent yet."""
    large = "x" * 300_000
    rows = [{"name": f"test {n:02}", "value": f"{n}{large}"} for n in range(30)]
    with store.write() as transaction:
        _insert_and_read(transaction, rows)
    with store.read() as db:
        found = db.execute(select(_V.c.value).where(_V.c.name.startswith("test")).order_by(_V.c.name))
        assert found.scalars().all() == [row["value"] for row in rows]


def _insert_and_read(transaction: Transaction, rows: list[dict[str, str]]) -> None:
    for row in rows:
        INSERT.run(transaction.connection, **row)
    fetched = rows_of_all(transaction.connection, {"first": VALUES, "second": VALUES, "third": VALUES})
    assert [len(each) for each in fetched.values()] == [30, 30, 30]
