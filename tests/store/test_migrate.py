"""Migrations lead to the tables of the program, on both databases, all at once or not at all."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, text

from silverball.store import migrate, tables
from silverball.store.engine import Store


@pytest.fixture
def empty(tmp_path: Path) -> Iterator[Store]:
    """An SQLite file that does not exist yet."""
    store = Store(f"sqlite:///{tmp_path / 'new.db'}")
    yield store
    store.close()


def _schema(db: Connection) -> dict[str, str]:
    rows = db.execute(text("SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL"))
    return {row.name: _in_one_order(row.sql) for row in rows if row.name != "alembic_version"}


def _in_one_order(sql: str) -> str:
    """The statement with the parts of a table in one order: SQLite puts an added column behind the keys."""
    if not sql.startswith("CREATE TABLE"):
        return sql
    begin, end = sql.index("("), sql.rindex(")")
    parts = sorted(part.strip() for part in re.split(r",(?![^(]*\))", sql[begin + 1 : end]))
    return f"{sql[:begin]}({', '.join(parts)}){sql[end + 1 :]}"


def test_migrations_lead_to_the_tables_of_the_program(store: Store) -> None:
    with store.read() as db:
        context = MigrationContext.configure(db, opts={"compare_type": not store.is_sqlite})
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
    assert not migrate.is_ready(empty)
    assert migrate.migrate(empty) == migrate.migrate(empty) == migrate.newest_schema()
    assert migrate.is_ready(empty)


def test_a_database_of_a_newer_version_is_left_alone(store: Store) -> None:
    with store.migration() as db:
        db.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    with pytest.raises(migrate.NewerSchema, match="9999"):
        migrate.migrate(store)
    assert not migrate.is_ready(store)


def test_a_database_that_cannot_be_reached_is_not_ready(tmp_path: Path) -> None:
    store = Store(f"sqlite:///{tmp_path / 'no' / 'such' / 'folder.db'}")
    assert not migrate.is_ready(store)
    store.close()


def test_the_newest_schema_is_the_one_alembic_would_stop_at() -> None:
    config = Config()
    config.set_main_option("script_location", str(migrate.FOLDER))
    assert ScriptDirectory.from_config(config).get_current_head() == migrate.newest_schema()
