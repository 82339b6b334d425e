"""The setup of spawned processes, which open the database that the server beside them has open."""

import pickle
from pathlib import Path
from typing import Any

from silverball.kit.values import WithSecret
from silverball.store.database.deadlines import StoreLimits
from silverball.store.database.engine import Store


class ProcessSetup(WithSecret, frozen=True):
    """The database of a server, and its settings."""

    database_url: str
    secret_file: Path | None
    settings: Any
    follows_host: bool = False

    def open_store(self, limits: StoreLimits, *, is_read_only: bool = False) -> Store:
        """The database, with limits of its own."""
        return Store(self.database_url, self.secret_file, limits=limits, is_read_only=is_read_only)


def setup_of(store: Store, settings: Any, *, follows_host: bool = False) -> bytes:
    """The first message for a spawned process."""
    url = store.url.render_as_string(hide_password=False)
    return pickle.dumps(ProcessSetup(url, store.key_file.path, settings, follows_host))


def read_setup(message: bytes) -> ProcessSetup:
    """The setup in the first message, which our own server wrote."""
    given: ProcessSetup = pickle.loads(message)  # noqa: S301  # not from the network
    return given
