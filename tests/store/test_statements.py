"""Statements on the driver's cursor behave as SQLAlchemy's own, errors included."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any

import pytest
from sqlalchemy import Connection, bindparam, insert, select, text, update
from sqlalchemy.exc import IntegrityError, OperationalError, StatementError

import build
from silverball.store import tables, types
from silverball.store.database import faults
from silverball.store.database.deadlines import OutcomeUnknown
from silverball.store.database.engine import Store
from silverball.store.database.statements import Statement, rows_of_all

pytestmark = pytest.mark.both_databases

_V = tables.site_value
INSERT = Statement(insert(_V).values(name=bindparam("new_name"), value=bindparam("new_value")))
SELECT = Statement(select(_V.c.value).where(_V.c.name == bindparam("own_name")))


def stored_values(store: Store) -> dict[str, str]:
    with store.read() as db:
        rows = select(_V.c.name, _V.c.value).where(_V.c.name.startswith("test"))
        return {name: value for name, value in db.execute(rows)}  # noqa: C416  # rows are no pairs to mypy


def test_rows_are_inserted_at_once_and_read_back(store: Store) -> None:
    rows = [{"new_name": f"test {number}", "new_value": str(number)} for number in range(3)]
    with store.write() as transaction:
        INSERT.run_many(transaction.connection, rows)
        INSERT.run(transaction.connection, new_name="test 3", new_value="3")
    assert stored_values(store) == {f"test {number}": str(number) for number in range(4)}
    with store.read() as db:
        assert SELECT.rows(db, own_name="test 2") == [("2",)]
        assert SELECT.rows(db, own_name="nothing") == []


def test_values_of_our_column_types_go_in_and_come_out(store: Store) -> None:
    night = build.a_tournament(store)
    own, moment = tables.entrant.c, datetime(2026, 3, 5, 12, 30, tzinfo=UTC)
    change = update(tables.entrant).where(own.player_id == bindparam("own_id"))
    given = {name: bindparam(f"new_{name}", type_=own[name].type) for name in ("points_adjustment", "labels")}
    changed = Statement(change.values(given).returning(own.points_adjustment, own.labels))
    began = Statement(select(tables.tournament.c.start_utc).where(tables.tournament.c.start_utc > moment))
    with store.write() as transaction:
        values = {"new_points_adjustment": Decimal("1.25"), "new_labels": ["a", "é"]}
        (row,) = changed.rows(transaction.connection, own_id=night.player_ids[0], **values)
        assert row == (Decimal("1.25"), ["a", "é"])
        moments = began.rows(transaction.connection)
    assert moments == [(build.NOW,)]


def run_by_sqlalchemy(db: Connection, values: dict[str, Any]) -> None:
    db.execute(insert(_V), values)


def run_on_cursor(db: Connection, values: dict[str, Any]) -> None:
    INSERT.run(db, **{f"new_{name}": value for name, value in values.items()})


@pytest.mark.parametrize("run", [run_by_sqlalchemy, run_on_cursor])
def test_an_error_is_sqlalchemys_and_shows_no_value(
    store: Store, run: Callable[[Connection, dict[str, Any]], None]
) -> None:
    with store.write() as transaction:
        run(transaction.connection, {"name": "test", "value": "secret-1"})
    with pytest.raises(IntegrityError) as caught, store.write() as transaction:
        run(transaction.connection, {"name": "test", "value": "secret-2"})
    assert "secret" not in str(caught.value).replace("(test)", "")
    assert "INSERT INTO site_value" in str(caught.value)
    assert not caught.value.connection_invalidated
    assert stored_values(store) == {"test": "secret-1"}


def test_a_value_that_cannot_be_stored_is_refused_without_being_shown(store: Store) -> None:
    own = tables.entrant.c
    statement = Statement(
        update(tables.entrant).values(points_adjustment=bindparam("points", type_=own.points_adjustment.type))
    )
    with pytest.raises(StatementError), store.write() as transaction:
        statement.run(transaction.connection, points=Decimal("0.001"))
    with pytest.raises(StatementError), store.write() as transaction:
        statement.run(transaction.connection)


def test_a_list_cannot_be_a_parameter(store: Store) -> None:
    statement = Statement(select(_V.c.value).where(_V.c.name.in_(bindparam("names", expanding=True))))
    with pytest.raises(ValueError, match="list"), store.read() as db:
        statement.rows(db, names=["a"])


def end_from_elsewhere(store: Store, db: Connection) -> None:
    """End a connection as a failover does: the program does not notice."""
    driver: Any = db.connection.driver_connection
    with store.engine.connect() as other:
        other.execute(text("SELECT pg_terminate_backend(:pid)"), {"pid": driver.info.backend_pid})


def select_value(db: Connection) -> None:
    SELECT.rows(db, own_name="x")


def select_at_once(db: Connection) -> None:
    rows_of_all(db, {"first": Statement(text("SELECT 1")), "second": Statement(text("SELECT 2"))})


def insert_values(db: Connection) -> None:
    INSERT.run_many(db, [{"new_name": name, "new_value": "1"} for name in ("test a", "test b")])


@pytest.mark.parametrize("database_url", ["postgresql"], indirect=True)
@pytest.mark.parametrize("work", [select_value, select_at_once])
def test_a_lost_connection_is_dropped_and_the_next_works(
    store: Store, work: Callable[[Connection], None]
) -> None:
    with pytest.raises(OperationalError) as caught, store.write() as transaction:
        end_from_elsewhere(store, transaction.connection)
        work(transaction.connection)
    assert caught.value.connection_invalidated
    assert faults.is_transient(caught.value)
    assert stored_values(store) == {}
    with store.write() as transaction:
        work(transaction.connection)


@pytest.mark.parametrize("database_url", ["postgresql"], indirect=True)
def test_what_leaves_with_the_commit_alone_has_an_unknown_outcome_on_a_lost_connection(store: Store) -> None:
    work = insert_values
    with pytest.raises(OutcomeUnknown) as caught, store.write() as transaction:
        end_from_elsewhere(store, transaction.connection)
        work(transaction.connection)
    cause = caught.value.__cause__
    assert isinstance(cause, OperationalError)
    assert cause.connection_invalidated
    assert stored_values(store) == {}
    with store.write() as transaction:
        work(transaction.connection)


@pytest.mark.parametrize("database_url", ["postgresql"], indirect=True)
def test_after_a_failover_one_transaction_fails_however_many_connections_wait_in_the_pool(
    store: Store,
) -> None:
    with store.read() as first, store.read() as second, store.read() as third:
        for db in (first, second, third):
            select_value(db)
    other = Store(store.url.render_as_string(hide_password=False))
    end_all = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
    with other.read() as db:
        db.execute(text(f"{end_all} WHERE datname = current_database() AND pid <> pg_backend_pid()")).all()
    other.close()
    with pytest.raises(OperationalError), store.read() as db:
        select_value(db)
    for _ in range(3):
        with store.read() as db:
            select_value(db)


@pytest.mark.parametrize(
    ("type_", "values"),
    [
        (types.Id(), [0, 2**62]),
        (types.Flag(), [True, False]),
        (types.Json(), [[], {"a": "é"}]),
        (types.Instant(), [build.NOW, build.NOW.astimezone(timezone(timedelta(hours=5)))]),
        (types.Hundredths(), [Decimal("1.25"), Decimal(-3), Decimal("1.2")]),
    ],
)
def test_values_become_what_sqlalchemy_makes_of_them(store: Store, type_: Any, values: list[Any]) -> None:
    echo = select(bindparam("value", type_=type_).label("value"))
    ours = Statement(echo)
    with store.read() as db:
        for value in [None, *values]:
            expected = [tuple(row) for row in db.execute(echo, {"value": value})]
            assert ours.rows(db, value=value) == expected
