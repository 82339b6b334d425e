"""What tests of files share."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from silverball.store.database.engine import Store


@pytest.fixture
def second(tmp_path: Path, empty_sqlite: Path) -> Iterator[Store]:
    """Another empty database."""
    path = tmp_path / "second.db"
    path.write_bytes(empty_sqlite.read_bytes())
    opened = Store(f"sqlite:///{path}")
    yield opened
    opened.close()
