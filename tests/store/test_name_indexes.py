"""The indexes of names stay equal to the names, whatever happens to them, and are made where they can be."""

import contextlib
import sqlite3
from collections.abc import Iterator, Sequence
from itertools import count
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import Connection, delete, event, insert, select, text, update
from sqlalchemy.exc import DatabaseError, IntegrityError, OperationalError

import build
from conftest import PostgreSQL
from plain_role import add_plain_role
from silverball.store import tables
from silverball.store.database import migrate, statements
from silverball.store.database.deadlines import COPIES
from silverball.store.database.engine import Store
from silverball.store.people import names
from silverball.store.people.names import SEARCHED, name_contains

pytestmark = pytest.mark.both_databases

USER = tables.user.c
NAMES = ("Ada Magnus", "Björn Tilt", "Núñez", "MAGNUS", "x", "")


@pytest.fixture
def sqlite(empty_sqlite: Path, tmp_path: Path) -> Iterator[Store]:
    (tmp_path / "names.db").write_bytes(empty_sqlite.read_bytes())
    store = Store(f"sqlite:///{tmp_path / 'names.db'}")
    yield store
    store.close()


def assert_equal_to_names(db: Connection) -> None:
    """Raise unless the indexes of SQLite hold exactly the names, and FTS5 finds itself whole."""
    for searched in SEARCHED.values():
        indexed = db.execute(text(f"SELECT rowid, folded FROM {searched.index} ORDER BY rowid")).all()
        stored = db.execute(select(searched.key, searched.names).order_by(searched.key)).all()
        assert [tuple(row) for row in indexed] == [(key, names.fold(name)) for key, name in stored]
        db.execute(text(f"INSERT INTO {searched.index} ({searched.index}) VALUES ('integrity-check')"))


def _user(name: str, **values: Any) -> dict[str, Any]:
    return {**build.DEFAULTS["user"], "name": name, **values}


def _found(store: Store, words: str) -> list[str]:
    with store.read() as db:
        rows = select(USER.name).where(name_contains(db, USER.name, words)).order_by(USER.user_id)
        return list(db.execute(rows).scalars())


# Triggers of SQLite

STEPS = st.lists(
    st.tuples(
        st.sampled_from(["add", "rename", "delete", "upsert", "replace", "all", "fail", "savepoint", "back"]),
        st.integers(1, 6),
        st.sampled_from(NAMES),
    ),
    max_size=25,
)


@settings(suppress_health_check=list(HealthCheck), deadline=None)
@given(steps=STEPS, is_rolled_back=st.booleans())
def test_after_any_writes_the_index_holds_exactly_the_names(
    sqlite: Store, steps: list[tuple[str, int, str]], is_rolled_back: bool
) -> None:
    class RolledBackError(Exception):
        pass

    try:
        with sqlite.write() as transaction:
            db = transaction.connection
            open_savepoints = 0
            for step, key, name in steps:
                open_savepoints = _take_step(db, step, key, name, open_savepoints)
            assert_equal_to_names(db)
            if is_rolled_back:
                raise RolledBackError
    except RolledBackError:
        pass
    with sqlite.write() as transaction:
        assert_equal_to_names(transaction.connection)


def _take_step(db: Connection, step: str, key: int, name: str, open_savepoints: int) -> int:
    """Write in one of many ways; returns the number of savepoints that are open after it."""
    if step == "savepoint":
        db.exec_driver_sql("SAVEPOINT step")
        return open_savepoints + 1
    if step == "back" and open_savepoints:
        db.exec_driver_sql("ROLLBACK TO step")
        db.exec_driver_sql("RELEASE step")
        return open_savepoints - 1
    new = insert(tables.user)
    if step == "add":
        db.execute(new.values(_user(name)))
    elif step == "rename":
        db.execute(update(tables.user).where(USER.user_id == key).values(name=name))
    elif step == "delete":
        db.execute(delete(tables.user).where(USER.user_id == key))
    elif step == "all":
        db.execute(update(tables.user).values(name=USER.name + name))
    elif step == "replace":
        db.execute(new.prefix_with("OR REPLACE").values(_user(name, user_id=key)))
    elif step == "upsert":
        upsert = statements.insert_into(db, tables.user).values(_user(name, user_id=key))
        db.execute(upsert.on_conflict_do_update(index_elements=["user_id"], set_={"name": name}))
    elif step == "fail":
        # The second row has the address of the first: both are undone.
        rows = [_user(name, email="same@silverball.test"), _user(name, email="same@silverball.test")]
        with pytest.raises(IntegrityError):
            db.execute(new.values(rows))
    return open_savepoints


def test_a_program_that_cannot_fold_reads_but_writes_no_name(sqlite: Store, tmp_path: Path) -> None:
    """As the shell of SQLite: it is refused rather than leave the index behind the names."""
    user_id = build.a_user(sqlite, name="Ada")
    db = sqlite3.connect(tmp_path / "names.db")
    assert db.execute("SELECT name FROM user").fetchall() == [("Ada",)]
    db.execute("UPDATE user SET role = 'admin' WHERE user_id = ?", (user_id,))
    with pytest.raises(sqlite3.OperationalError, match="silverball_folded"):
        db.execute("UPDATE user SET name = 'Bo' WHERE user_id = ?", (user_id,))
    db.execute("DELETE FROM user")
    db.commit()
    db.close()
    assert _found(sqlite, "ada") == []


def test_a_full_disk_undoes_the_statement_and_leaves_the_index_equal(sqlite: Store) -> None:
    build.a_user(sqlite, name="Ada")
    with sqlite.write() as transaction:
        db = transaction.connection
        db.execute(insert(tables.user).values(_user("Bo")))
        db.exec_driver_sql("PRAGMA max_page_count=1")
        with pytest.raises(OperationalError, match="disk is full"):
            db.execute(insert(tables.user).values(_user("x" * 100_000)))
        db.exec_driver_sql("PRAGMA max_page_count=1000000")
    with sqlite.write() as transaction:
        assert_equal_to_names(transaction.connection)
    assert _found(sqlite, "") == ["Ada", "Bo"]


def test_a_forgotten_name_is_in_no_part_of_the_index(sqlite: Store) -> None:
    user_id = build.a_user(sqlite, name="Zyzzyva")
    build.a_user(sqlite, name="Ada")
    with sqlite.write() as transaction:
        transaction.connection.execute(
            update(tables.user).where(USER.user_id == user_id).values(name="Player 1")
        )
    assert b"zyv" in _blocks(sqlite)
    _forget(sqlite)
    assert b"zyv" not in _blocks(sqlite)
    assert _found(sqlite, "ada") == ["Ada"]


def _forget(store: Store) -> int:
    """Remove what the indexes hold of earlier names; returns the number of transactions."""
    with store.write() as transaction:
        migrate.begin_forgetting(transaction.connection)
    for number in count(2):
        with store.write() as transaction:
            if not migrate.forget_slice(transaction.connection):
                return number
    raise AssertionError


def test_many_names_are_forgotten_in_short_transactions_while_others_write(sqlite: Store) -> None:
    dice = Random(20_000)
    _add_users(sqlite, [f"Player {dice.getrandbits(60)}" for _ in range(20_000)])
    user_id = build.a_user(sqlite, name="Zyzzyva")
    with sqlite.write() as transaction:
        migrate.begin_forgetting(transaction.connection)
        transaction.connection.execute(delete(tables.user).where(USER.user_id == user_id))
    assert _forget(sqlite) > 3
    with sqlite.write() as transaction:
        migrate.begin_forgetting(transaction.connection)
    # A slice is bounded by time, so that a busy machine needs more of them.
    for number in range(2_000):
        build.a_user(sqlite, name=f"Ada {number}")
        with sqlite.write() as transaction:
            if not migrate.forget_slice(transaction.connection):
                break
    else:
        pytest.fail("names that are added keep it from ending")
    assert b"zyv" not in _blocks(sqlite)
    with sqlite.write() as transaction:
        assert_equal_to_names(transaction.connection)


def _add_users(store: Store, added: Sequence[str]) -> None:
    with store.write() as transaction:
        transaction.connection.execute(insert(tables.user), [_user(name) for name in added])


def test_names_can_be_changed_and_found_after_a_thousand_were_forgotten(sqlite: Store) -> None:
    # SQLite 3.40 can neither read nor write an index after 1,001 merges of all its parts.
    user_id = build.a_user(sqlite, name="Ada")
    with sqlite.with_limits(COPIES).write() as transaction:
        db = transaction.connection
        for number in range(1_010):
            db.execute(update(tables.user).where(USER.user_id == user_id).values(name=f"Zyzzyva {number}"))
            migrate.begin_forgetting(db)
            while migrate.forget_slice(db):
                pass
            (size,) = db.execute(text("SELECT length(block) FROM user_name_search_data WHERE id = 10")).one()
            assert size < 2 * migrate.STRUCTURE_BYTES_MAX
        assert_equal_to_names(db)
    assert _found(sqlite, "zyzzyva") == ["Zyzzyva 1009"]


def test_an_index_that_an_earlier_version_wore_out_is_built_anew(sqlite: Store) -> None:
    user_id = build.a_user(sqlite, name="Ada")
    rename = update(tables.user).where(USER.user_id == user_id)
    with sqlite.with_limits(COPIES).write() as transaction:
        db = transaction.connection
        for number in range(1_010):
            with contextlib.suppress(DatabaseError):
                db.execute(rename.values(name=f"Zyzzyva {number}"))
                db.execute(text("INSERT INTO user_name_search (user_name_search) VALUES ('optimize')"))
    migrate.migrate(sqlite)
    with sqlite.write() as transaction:
        transaction.connection.execute(rename.values(name="Bo"))
        assert_equal_to_names(transaction.connection)


def _blocks(store: Store) -> bytes:
    with store.read() as db:
        return b"".join(db.execute(text("SELECT block FROM user_name_search_data")).scalars())


# Migrations


@pytest.fixture
def unindexed(store: Store) -> Store:
    """A database whose names have no indexes yet, as where PostgreSQL got its extension later."""
    with store.migration() as db:
        for searched in SEARCHED.values():
            if not store.is_sqlite:
                db.exec_driver_sql(f"DROP INDEX {searched.index}")
                continue
            for name in migrate.sqlite_definitions(searched):
                db.exec_driver_sql(f"DROP {'TABLE' if name == searched.index else 'TRIGGER'} {name}")
    assert _missing(store) == sorted(searched.table for searched in SEARCHED.values())
    for name in NAMES:
        build.a_user(store, name=name)
    return store


def _missing(store: Store) -> list[str]:
    with store.read() as db:
        return sorted(migrate.missing(db))


def test_names_that_were_there_before_are_indexed_by_a_migration(unindexed: Store) -> None:
    assert _found(unindexed, "magnus") == ["Ada Magnus", "MAGNUS"]
    migrate.migrate(unindexed)
    assert _missing(unindexed) == []
    assert _found(unindexed, "magnus") == ["Ada Magnus", "MAGNUS"]
    if unindexed.is_sqlite:
        with unindexed.write() as transaction:
            assert_equal_to_names(transaction.connection)


def test_an_index_whose_triggers_a_migration_has_lost_is_made_anew(sqlite: Store) -> None:
    """A table that is built anew by `batch_alter_table` is without its triggers."""
    build.a_user(sqlite, name="Ada")
    with sqlite.migration() as db:
        db.execute(text("DROP TRIGGER user_name_search_changed"))
        db.execute(update(tables.user).values(name="Bo"))
    assert _found(sqlite, "") == ["Bo"]
    migrate.migrate(sqlite)
    with sqlite.write() as transaction:
        assert_equal_to_names(transaction.connection)


def test_an_sqlite_without_fts5_compares_all_names(tmp_path: Path) -> None:
    store = Store(f"sqlite:///{tmp_path / 'plain.db'}")

    @event.listens_for(store.engine, "connect")
    def _hide_modules(connection: Any, _record: Any) -> None:
        connection.set_authorizer(
            lambda _kind, name, *_: (
                sqlite3.SQLITE_IGNORE if name == "pragma_module_list" else sqlite3.SQLITE_OK
            )
        )

    migrate.migrate(store)
    build.a_user(store, name="Björn Magnus")
    assert _found(store, "bjorn mag") == ["Björn Magnus"]
    with store.read() as db:
        assert "no FTS5" in (migrate.problem(db) or "")
    store.close()


def test_without_the_right_to_add_pg_trgm_all_names_are_compared_until_it_is_there(
    postgresql: PostgreSQL,
) -> None:
    url = postgresql.empty_database()
    admin = Store(url)
    role, plain_url = add_plain_role(admin, url)
    store = Store(plain_url)
    assert migrate.migrate(store) == migrate.newest_schema()
    for name in NAMES:
        build.a_user(store, name=name)
    assert len(_missing(store)) == len(SEARCHED)
    with store.read() as db:
        assert "CREATE EXTENSION pg_trgm" in (migrate.problem(db) or "")
    assert _found(store, "núñ") == ["Núñez"]
    with admin.migration() as db:
        db.exec_driver_sql("CREATE SCHEMA extensions")
        db.exec_driver_sql("CREATE EXTENSION pg_trgm SCHEMA extensions")
        db.exec_driver_sql(f"GRANT USAGE ON SCHEMA extensions TO {role}")
    migrate.migrate(store)
    assert _missing(store) == []
    with store.read() as db:
        assert migrate.problem(db) is None
    assert _found(store, "núñ") == ["Núñez"]
    store.close()
    admin.close()
