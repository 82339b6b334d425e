"""PostgreSQL is asked in few round trips: what has no result goes with the next statement that has one."""

from collections.abc import Iterator
from contextlib import suppress

import pytest
from sqlalchemy import bindparam, insert, select, text
from sqlalchemy.exc import DBAPIError, IntegrityError

import build
from conftest import PostgreSQL
from service.desk import Desk, a_desk
from silverball import app
from silverball.settings import Settings
from silverball.store import tables
from silverball.store.database import statements
from silverball.store.database.deadlines import OutcomeUnknown
from silverball.store.database.engine import Store
from silverball.store.database.statements import ROWS_UNSENT_MAX, Statement, rows_of_all
from silverball.store.database.transaction import Transaction
from tcp_proxy import TcpProxy

pytestmark = pytest.mark.both_databases

_V = tables.site_value
INSERT = Statement(insert(_V).values(name=bindparam("new_name"), value=bindparam("new_value")))
COUNT = Statement(text("SELECT count(*) FROM site_value WHERE name LIKE 'test%'"))
# Long enough that all of a batch has been sent before its first answer arrives.
DELAY_SECONDS = 0.05


@pytest.fixture
def line(postgresql: PostgreSQL) -> Iterator[TcpProxy]:
    """The way to the cluster."""
    with TcpProxy(postgresql.folder / ".s.PGSQL.5432") as proxy:
        yield proxy


@pytest.fixture
def far(postgresql: PostgreSQL, line: TcpProxy) -> Iterator[Store]:
    """A database at the end of a line."""
    name = postgresql.new_database().partition("@/")[2].partition("?")[0]
    store = Store(f"postgresql+psycopg://silverball@127.0.0.1:{line.port}/{name}")
    yield store
    store.close()


def names(store: Store) -> list[str]:
    with store.read() as db:
        return sorted(db.execute(select(_V.c.name).where(_V.c.name.startswith("test"))).scalars())


def insert_row(writing: Transaction, name: str) -> None:
    INSERT.run(writing.connection, new_name=name, new_value="canary")


def started_games(desk: Desk) -> list[dict[str, object]]:
    games: list[dict[str, object]] = desk.ok("POST", "/rounds", {})["games"]
    return games


def test_a_result_takes_five_round_trips(far: Store, line: TcpProxy) -> None:
    """Of fourteen are left: the lock, the revision, the arena with the rows, the new revision, the commit."""
    desk = a_desk(far, "group_matchplay", players=12, arenas=4)
    api = app.build_api(far, Settings(base_url=build.BASE_URL), now=lambda: build.NOW)
    line.delay(DELAY_SECONDS)
    turns = []
    for game in started_games(desk)[:3]:
        before = line.turns
        path, body = f"{desk.path}/games/{game['gameId']}/result", {"resultPositions": game["playerIds"]}
        status, answer, _ = build.send(api, "PUT", path, body, by=desk.callers["owner"])
        assert status == 200, answer
        turns.append(line.turns - before)
    # The first ones load what the process keeps in memory.
    assert turns[-1] == 5


def test_a_read_begins_with_its_first_statements(far: Store, line: TcpProxy) -> None:
    assert names(far) == []
    line.delay(DELAY_SECONDS)
    before = line.turns
    with far.read() as db:
        rows_of_all(db, {"first": COUNT, "second": COUNT})
        COUNT.rows(db)
    # The third ends it.
    assert line.turns - before == 3


def test_what_waits_is_seen_by_every_later_statement(store: Store) -> None:
    with store.write() as transaction:
        db = transaction.connection
        insert_row(transaction, "test 1")
        assert COUNT.rows(db) == [(1,)]
        insert_row(transaction, "test 2")
        assert db.execute(text("SELECT count(*) FROM site_value WHERE name LIKE 'test%'")).scalar_one() == 2
        many = [{"new_name": f"test m{n}", "new_value": ""} for n in range(ROWS_UNSENT_MAX + 1)]
        insert_row(transaction, "test 3")
        INSERT.run_many(db, many)
        INSERT.run_many(db, [{**row, "new_name": f"{row['new_name']}b"} for row in many[:3]])
    assert len(names(store)) == 3 + len(many) + 3


@pytest.mark.parametrize("noticed_by", ["fetch", "sqlalchemy", "send", "commit"])
def test_an_error_of_what_waits_is_raised_later_and_nothing_is_stored(store: Store, noticed_by: str) -> None:
    with store.write() as transaction:
        insert_row(transaction, "test")
    with pytest.raises(IntegrityError) as caught, store.write() as transaction:
        db = transaction.connection
        insert_row(transaction, "test before")
        insert_row(transaction, "test")
        insert_row(transaction, "test after")
        if noticed_by == "fetch":
            COUNT.rows(db)
        elif noticed_by == "sqlalchemy":
            db.execute(select(1))
        elif noticed_by == "send":
            statements.send(db)
    assert "INSERT INTO site_value" in str(caught.value)
    assert "canary" not in str(caught.value)
    assert not caught.value.connection_invalidated
    assert names(store) == ["test"]
    with store.write() as transaction:
        insert_row(transaction, "test again")
    assert names(store) == ["test", "test again"]


def test_the_error_names_the_statement_that_failed(store: Store) -> None:
    with pytest.raises(DBAPIError, match="no_such_table") as caught, store.write() as transaction:
        insert_row(transaction, "test")
        statements.run_text(transaction.connection, "DELETE FROM no_such_table")
        COUNT.rows(transaction.connection)
    assert caught.value.statement == "DELETE FROM no_such_table"


def test_a_savepoint_undoes_what_was_said_after_it_and_nothing_before(store: Store) -> None:
    with store.write() as transaction:
        db = transaction.connection
        insert_row(transaction, "test kept")
        with suppress(ZeroDivisionError), db.begin_nested():
            insert_row(transaction, "test undone")
            raise ZeroDivisionError
        with db.begin_nested():
            insert_row(transaction, "test released")
        with suppress(IntegrityError), db.begin_nested():
            insert_row(transaction, "test kept")
        insert_row(transaction, "test last")
    assert names(store) == ["test kept", "test last", "test released"]


def test_a_transaction_that_fails_sends_nothing_of_what_waits(far: Store, line: TcpProxy) -> None:
    assert names(far) == []
    before = line.turns
    with suppress(ZeroDivisionError), far.write() as transaction:
        insert_row(transaction, "test")
        raise ZeroDivisionError
    assert line.turns == before
    assert names(far) == []


def test_a_line_that_is_cut_at_the_commit_leaves_the_outcome_open(far: Store, line: TcpProxy) -> None:
    with pytest.raises(OutcomeUnknown), far.write() as transaction:
        insert_row(transaction, "test")
        COUNT.rows(transaction.connection)
        insert_row(transaction, "test 2")
        line.cut()
    assert names(far) == []


def test_a_quiet_write_and_a_migration_are_committed_too(store: Store) -> None:
    with store.write(quiet=True) as transaction:
        insert_row(transaction, "test quiet")
    with store.migration() as db:
        INSERT.run(db, new_name="test migrated", new_value="")
    assert names(store) == ["test migrated", "test quiet"]
