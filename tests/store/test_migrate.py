"""Migrations lead to the tables of the program, on both databases, all at once or not at all."""

import re
import shutil
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, inspect, text
from sqlalchemy.exc import SQLAlchemyError

import build
from silverball.store import tables
from silverball.store.database import migrate
from silverball.store.database.engine import Store

pytestmark = pytest.mark.both_databases

NEXT_VERSION = """
from alembic import op
from sqlalchemy import Column, Text

revision = "9001"
down_revision = "{newest}"


def upgrade() -> None:
    op.add_column("location", Column("parking", Text))


def contract() -> None:
    op.drop_column("blocked_network", "created_at")
"""


@pytest.fixture
def empty(tmp_path: Path) -> Iterator[Store]:
    """An SQLite file that does not exist yet."""
    store = Store(f"sqlite:///{tmp_path / 'new.db'}")
    yield store
    store.close()


def _is_index_of_names(name: str | None) -> bool:
    """Whether it belongs to an index of `store/name_indexes`, of which no table of the program knows."""
    return "_name_search" in (name or "")


def _schema(db: Connection) -> dict[str, str]:
    rows = db.execute(text("SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL"))
    return {
        row.name: _in_one_order(row.sql)
        for row in rows
        if row.name != "alembic_version" and not _is_index_of_names(row.name)
    }


def _in_one_order(sql: str) -> str:
    """The statement with the parts of a table in one order: SQLite puts an added column behind the keys."""
    if not sql.startswith("CREATE TABLE"):
        return sql
    begin, end = sql.index("("), sql.rindex(")")
    parts = sorted(part.strip() for part in re.split(r",(?![^(]*\))", sql[begin + 1 : end]))
    return f"{sql[:begin]}({', '.join(parts)}){sql[end + 1 :]}"


def test_migrations_lead_to_the_tables_of_the_program(store: Store) -> None:
    with store.read() as db:
        options = {
            "compare_type": not store.is_sqlite,
            "include_name": lambda name, _kind, _parents: not _is_index_of_names(name),
        }
        context = MigrationContext.configure(db, opts=options)
        assert compare_metadata(context, tables.metadata) == []


def test_migrated_and_declared_tables_of_sqlite_are_the_same_and_strict(empty: Store, tmp_path: Path) -> None:
    migrate.migrate(empty)
    declared = Store(f"sqlite:///{tmp_path / 'declared.db'}")
    tables.metadata.create_all(declared.engine)
    with empty.read() as migrated, declared.read() as wanted:
        assert _schema(migrated) == _schema(wanted)
        created = [sql for sql in _schema(migrated).values() if sql.startswith("CREATE TABLE")]
        assert len(created) == len(tables.metadata.tables) + 1  # SQLite's own sqlite_sequence
        assert all(sql.rstrip().endswith("STRICT") for sql in created if "sqlite_sequence" not in sql)
    declared.close()


def test_a_new_file_is_behind_until_it_is_migrated_and_a_second_migration_does_nothing(empty: Store) -> None:
    assert migrate.database_schema(empty) is None
    assert not migrate.is_migrated(empty)
    assert migrate.migrate(empty) == migrate.migrate(empty) == migrate.newest_schema()
    assert migrate.is_migrated(empty)


def test_a_database_of_a_newer_version_is_left_alone(store: Store) -> None:
    with store.migration() as db:
        db.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    with pytest.raises(migrate.NewerSchema, match="9999"):
        migrate.migrate(store)
    assert not migrate.is_migrated(store)


def _serve_an_older_schema(store: Store) -> None:
    """Take the second step of the update to 0.2.0 back."""
    with store.migration() as db:
        db.execute(text("UPDATE alembic_version SET version_num = '0041'"))
        db.execute(tables.site_value.insert().values(name=migrate.EXPANDED, value="0042"))


def _leave_a_line_without_hash(store: Store) -> None:
    night = build.a_tournament(store)
    line = {"action_id": 1, "change": "TournamentStarted", "data": {}, "source": "", "at": build.NOW}
    build.row(store, tables.journal, tournament_id=night.tournament_id, **line)


@pytest.mark.parametrize("make_older", [_serve_an_older_schema, _leave_a_line_without_hash])
@pytest.mark.parametrize("change_schema", [migrate.migrate, migrate.contract])
def test_a_database_that_0_2_0_did_not_finish_is_left_alone(
    store: Store, make_older: Callable[[Store], None], change_schema: Callable[[Store], str]
) -> None:
    make_older(store)
    before = migrate.database_schema(store)
    with pytest.raises(
        migrate.OlderSchema, match=r"^Run `silverball migrate --contract` of 0\.2\.0 first\.$"
    ):
        change_schema(store)
    assert migrate.database_schema(store) == before
    assert migrate.is_migrated(store) is (make_older is _leave_a_line_without_hash)


def test_a_database_that_cannot_be_reached_is_not_ready(tmp_path: Path) -> None:
    store = Store(f"sqlite:///{tmp_path / 'no' / 'such' / 'folder.db'}")
    assert not migrate.is_migrated(store)
    store.close()


def test_the_newest_schema_is_the_one_alembic_would_stop_at() -> None:
    config = Config()
    config.set_main_option("script_location", str(migrate.FOLDER))
    assert ScriptDirectory.from_config(config).get_current_head() == migrate.newest_schema()


@pytest.fixture
def next_version(tmp_path: Path) -> Path:
    """The migrations of a next version, which adds a column and removes another."""
    folder = shutil.copytree(migrate.FOLDER, tmp_path / "next")
    migration = NEXT_VERSION.format(newest=migrate.newest_schema())
    (folder / "versions" / "9001_next.py").write_text(migration)
    return folder


def _columns(store: Store, table: str) -> set[str]:
    with store.read() as db:
        return {column["name"] for column in inspect(db).get_columns(table)}


def test_after_the_first_step_of_an_update_both_versions_are_ready(store: Store, next_version: Path) -> None:
    for _ in range(2):
        migrate.migrate(store, next_version)
        assert migrate.is_current(store, next_version)
        assert migrate.is_migrated(store)
        assert "parking" in _columns(store, "location")
        assert "created_at" in _columns(store, "blocked_network")
    # The version before has nothing to migrate, and takes nothing back.
    migrate.migrate(store)
    assert migrate.is_current(store, next_version)


def test_after_the_second_step_only_the_next_version_is_ready(store: Store, next_version: Path) -> None:
    migrate.migrate(store, next_version)
    for _ in range(2):
        migrate.contract(store, next_version)
        assert migrate.is_current(store, next_version)
        assert not migrate.is_migrated(store)
        assert "created_at" not in _columns(store, "blocked_network")
    with pytest.raises(migrate.NewerSchema):
        migrate.migrate(store)
    with pytest.raises(migrate.NewerSchema):
        migrate.contract(store)


def test_both_steps_can_be_taken_at_once(store: Store, next_version: Path) -> None:
    migrate.contract(store, next_version)
    assert migrate.database_schema(store) == migrate.StoredSchema("9001", "9001")
    assert "parking" in _columns(store, "location")


def test_a_new_database_has_nothing_that_only_earlier_versions_need(empty: Store, next_version: Path) -> None:
    migrate.migrate(empty, next_version)
    assert migrate.database_schema(empty) == migrate.StoredSchema("9001", "9001")
    assert "created_at" not in _columns(empty, "blocked_network")


def test_an_update_past_a_version_removes_what_only_versions_before_it_need(
    store: Store, next_version: Path
) -> None:
    migrate.migrate(store, next_version)
    migration = NEXT_VERSION.format(newest="9001").replace('revision = "9001"', 'revision = "9002"', 1)
    (next_version / "versions" / "9002_later.py").write_text(
        migration.replace("parking", "floor").replace("blocked_network", "known_browser")
    )
    migrate.newest_schema.cache_clear()
    migrate.migrate(store, next_version, previous="9001")
    assert migrate.database_schema(store) == migrate.StoredSchema("9001", "9002")
    assert "created_at" not in _columns(store, "blocked_network")
    assert "created_at" in _columns(store, "known_browser")


def test_a_second_step_that_fails_leaves_everything_as_it_was(store: Store, next_version: Path) -> None:
    migrate.migrate(store, next_version)
    before = migrate.database_schema(store)
    file = next_version / "versions" / "9001_next.py"
    file.write_text(file.read_text() + '    op.drop_column("location", "no_such_column")\n')
    with pytest.raises(SQLAlchemyError):
        migrate.contract(store, next_version)
    assert migrate.database_schema(store) == before
    assert "created_at" in _columns(store, "blocked_network")


def test_a_migration_waits_for_a_table_that_is_in_use(store: Store, next_version: Path) -> None:
    def hold_table(is_held: threading.Event) -> None:
        with store.write() as transaction:
            transaction.connection.execute(text("DELETE FROM location"))
            is_held.set()
            time.sleep(migrate.LOCK_SECONDS + 0.5)

    is_held = threading.Event()
    holder = threading.Thread(target=hold_table, args=(is_held,))
    holder.start()
    is_held.wait()
    migrate.migrate(store, next_version)
    holder.join()
    assert migrate.is_current(store, next_version)
