"""Stores without time limits: a busy machine may take long for a transaction."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from silverball.store.database.deadlines import COPIES
from silverball.store.database.engine import Store


@pytest.fixture
def store(store: Store) -> Store:
    """A fresh database, open."""
    return store.with_limits(COPIES)


@pytest.fixture
def second_store(store: Store, request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    """Another fresh database of the same kind, open."""
    if store.is_sqlite:
        path = tmp_path / "second.db"
        shutil.copy(request.getfixturevalue("empty_sqlite"), path)
        url = f"sqlite:///{path}"
    else:
        url = request.getfixturevalue("postgresql").new_database()
    opened = Store(url, limits=COPIES)
    yield opened
    opened.close()
    if not store.is_sqlite:
        request.getfixturevalue("postgresql").drop(url)
