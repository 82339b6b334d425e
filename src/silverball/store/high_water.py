"""The file beside an SQLite database that says how far the database has come.

An SQLite file can be replaced by an older copy while no server runs. The next start finds that the database
has less than the file says, and draws a new generation.
"""

import logging
import os
from pathlib import Path

import msgspec

from silverball.kit import private_files
from silverball.kit.conversions import decode
from silverball.store.stamps import WorldState

LOG = logging.getLogger("silverball.store")


class HighWaterFile:
    """The newest state of the world that this server has seen; without a path nothing is kept."""

    ENDING = ".newest"

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._saved: WorldState | None = None

    def load(self) -> WorldState | None:
        """The state at the last save; None when there is none, or none that can be read."""
        if self._path is None:
            return None
        try:
            return decode(self._path.read_bytes(), WorldState)
        except (OSError, msgspec.MsgspecError):
            return None

    def save(self, world: WorldState) -> None:
        """Save this state, unless it is saved already. What cannot be saved is logged once."""
        if self._path is None or world == self._saved:
            return
        # The old file stays whole until the new one is.
        unfinished = self._path.with_name(f"{self._path.name}-new")
        try:
            private_files.create_or_tighten(unfinished)
            unfinished.write_bytes(msgspec.json.encode(world))
            os.replace(unfinished, self._path)
        except OSError as error:
            if self._saved is not None:
                LOG.warning("cannot note how far the database has come: %s", error)
        self._saved = world
