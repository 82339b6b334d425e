"""Fixtures of the pages."""

from collections.abc import Iterator

import pytest

from silverball.store.engine import Store
from web.browsing import base_url, browser, shown
from web.director import Director
from web.evening import Evening
from web.visitor import Visitor

__all__ = ["base_url", "browser", "director", "shown", "tablet", "visitor"]


@pytest.fixture
def visitor(store: Store) -> Iterator[Visitor]:
    """Somebody at the site, not signed in."""
    with Visitor(store) as opened:
        yield opened


@pytest.fixture
def tablet(store: Store) -> Iterator[Visitor]:
    """Another browser, in which nobody is signed in."""
    with Visitor(store) as opened:
        yield opened


@pytest.fixture
def director(store: Store, visitor: Visitor) -> Director:
    """An organizer who has just signed in."""
    return Director(store, visitor)


@pytest.fixture
def evening(store: Store, database_url: str) -> Iterator[Evening]:
    """A server in a process of its own, and a line to it."""
    opened = Evening(store, database_url)
    yield opened
    opened.close()
