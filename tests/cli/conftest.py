"""Fixtures for the tests of commands."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from service import stored_nights
from silverball.store.engine import Store


@pytest.fixture
def hurried_store(empty_sqlite: Path, tmp_path: Path) -> Iterator[Store]:
    """A SQLite database for long tournaments, which does not wait for the disk."""
    path = tmp_path / "silverball.db"
    shutil.copy(empty_sqlite, path)
    opened = Store(f"sqlite:///{path}")
    stored_nights.skip_disk_sync(opened)
    yield opened
    opened.close()
