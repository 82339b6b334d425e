"""Fixtures of the pages."""

from collections.abc import Iterator

import pytest

from silverball.store.engine import Store
from web.visitor import Visitor


@pytest.fixture
def visitor(store: Store) -> Iterator[Visitor]:
    """Somebody at the site, not signed in."""
    with Visitor(store) as opened:
        yield opened
