"""Fixtures of the pages."""

from collections.abc import Iterator

import pytest

from silverball.store.database.engine import Store
from web.chromium import base_url, browser, browser_page
from web.director import Director
from web.server_process import LiveServer
from web.visitor import Visitor

__all__ = ["base_url", "browser", "browser_page", "director", "tablet", "visitor"]


@pytest.fixture
def visitor(store: Store) -> Iterator[Visitor]:
    """A visitor who is not signed in."""
    with Visitor(store) as opened:
        yield opened


@pytest.fixture
def tablet(store: Store) -> Iterator[Visitor]:
    """Another browser, not signed in."""
    with Visitor(store) as opened:
        yield opened


@pytest.fixture
def director(store: Store, visitor: Visitor) -> Director:
    """An organizer who has just signed in."""
    return Director(store, visitor)


@pytest.fixture
def live_server(store: Store, database_url: str) -> Iterator[LiveServer]:
    """A server in its own process, behind a connection that can break."""
    opened = LiveServer(store, database_url)
    yield opened
    opened.close()
