"""Migrations: released ones never change, and new ones only add, so that nodes of two versions work together.

What a version no longer needs is removed by the `contract` function of a migration, on request.
"""

import hashlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from house.schema_changes import breaking_changes, table_shapes
from kept import opening
from silverball.store.database import migrate
from silverball.store.database.engine import Store

HASHES = Path(__file__).parents[1] / "golden" / "released_migrations.txt"


def _released_hashes() -> dict[str, str]:
    lines = [line for line in HASHES.read_text().splitlines() if not line.startswith("#")]
    return {name: digest for digest, name in (line.split() for line in lines)}


@pytest.fixture
def of_version_before(tmp_path: Path) -> Iterator[Store]:
    """A database that the version before has written."""
    with opening.open_sqlite(opening.unpack(tmp_path)) as store:
        yield store


@pytest.mark.parametrize(("name", "digest"), _released_hashes().items())
def test_a_released_migration_is_never_edited(name: str, digest: str) -> None:
    assert hashlib.sha256((migrate.FOLDER / name).read_bytes()).hexdigest() == digest


def test_every_migration_up_to_the_schema_before_is_in_the_list() -> None:
    files = {f"versions/{path.name}" for path in (migrate.FOLDER / "versions").glob("[0-9]*.py")}
    released = {name for name in files if Path(name).name[:4] <= migrate.PREVIOUS_SCHEMA}
    assert released == set(_released_hashes())


def test_migrations_since_the_version_before_only_add(of_version_before: Store) -> None:
    with of_version_before.read() as db:
        before = table_shapes(db)
    migrate.migrate(of_version_before)
    with of_version_before.read() as db:
        assert breaking_changes(before, table_shapes(db)) == []
    stored = migrate.database_schema(of_version_before)
    assert stored is not None
    assert stored.serves(migrate.PREVIOUS_SCHEMA)
    assert stored.serves(migrate.newest_schema())


@pytest.mark.parametrize(
    ("statements", "lines"),
    [
        (["ALTER TABLE location ADD COLUMN parking TEXT"], []),
        (["ALTER TABLE location ADD COLUMN parking TEXT NOT NULL DEFAULT ''"], []),
        (["CREATE TABLE car_park (place TEXT NOT NULL UNIQUE)"], []),
        (["DROP TABLE known_browser"], ["known_browser is gone"]),
        (["ALTER TABLE site_value DROP COLUMN value"], ["site_value.value is gone"]),
        (
            ["ALTER TABLE site_value RENAME COLUMN value TO text"],
            ["site_value.text is needed and has no default", "site_value.value is gone"],
        ),
        (
            [
                "DROP TABLE site_value",
                "CREATE TABLE site_value (name TEXT PRIMARY KEY, value BLOB, at TEXT NOT NULL)",
            ],
            ["site_value.at is needed and has no default", "site_value.value has another type"],
        ),
        (
            ["CREATE UNIQUE INDEX only_value ON site_value (value)"],
            ["site_value has a new rule: unique ['value']"],
        ),
    ],
)
def test_a_change_that_would_trouble_the_version_before_is_found(
    of_version_before: Store, statements: list[str], lines: list[str]
) -> None:
    with of_version_before.read() as db:
        before = table_shapes(db)
    with of_version_before.migration() as db:
        for statement in statements:
            db.exec_driver_sql(statement)
    with of_version_before.read() as db:
        assert breaking_changes(before, table_shapes(db)) == lines


def test_migrations_are_numbered_without_gaps_and_follow_each_other() -> None:
    files = sorted((migrate.FOLDER / "versions").glob("[0-9]*.py"))
    first = int(migrate.BASELINE)
    numbers = [f"{number:04}" for number in range(first, first + len(files))]
    assert [file.name[:4] for file in files] == numbers
    for file, number, previous in zip(files[1:], numbers[1:], numbers, strict=False):
        lines = file.read_text().splitlines()
        assert {f'revision = "{number}"', f'down_revision = "{previous}"'} <= set(lines), file.name
