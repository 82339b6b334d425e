"""Fixtures for the tests of commands."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from service import stored_nights
from silverball.store.database.engine import Store

# How a run of the tests is chosen; none of them is a setting of the program, which would complain.
OPTIONS_OF_TESTS = ("SILVERBALL_TEST_", "SILVERBALL_QUICK", "SILVERBALL_SOAK", "SILVERBALL_LIST_")


@pytest.fixture(autouse=True)
def _only_settings_in_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith(OPTIONS_OF_TESTS)]:
        monkeypatch.delenv(name)


@pytest.fixture
def sqlite_url(empty_sqlite: Path, tmp_path: Path) -> str:
    """The address of the SQLite database of a new site."""
    file = tmp_path / "site.db"
    shutil.copy(empty_sqlite, file)
    return f"sqlite:///{file}"


@pytest.fixture
def hurried_store(empty_sqlite: Path, tmp_path: Path) -> Iterator[Store]:
    """A SQLite database for long tournaments, which does not wait for the disk."""
    path = tmp_path / "silverball.db"
    shutil.copy(empty_sqlite, path)
    opened = Store(f"sqlite:///{path}")
    stored_nights.skip_disk_sync(opened)
    yield opened
    opened.close()
