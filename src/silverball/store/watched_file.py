"""The file of an SQLite database, watched while it is open.

A process goes on writing into a file that was deleted or replaced under it, and all of that is lost
when it ends. So the file must be the one that was opened.
"""

import logging
import os
from pathlib import Path

from silverball.store.faults import DatabaseUnavailable

LOG = logging.getLogger("silverball.store")


class DatabaseFileGone(DatabaseUnavailable):
    """The file at the database's path is another one than the process has open, or none."""

    sentence = "The file of the database was removed or replaced while it was in use. Nothing was changed."


class WatchedFile:
    """One file, by its device and number."""

    def __init__(self, path: Path | None) -> None:
        # As text, which a path would be turned into for each look.
        self._path = None if path is None else str(path)
        self._opened = self._current()
        self._is_reported = False

    def is_same(self) -> bool:
        """Whether the file is the one that was opened; a change is logged once."""
        is_same = self._current() == self._opened
        if is_same == self._is_reported:
            self._is_reported = not is_same
            if is_same:
                LOG.warning("the file of the database is back at %s", self._path)
            else:
                LOG.error(
                    "the file of the database was removed or replaced at %s: nothing is written any more;"
                    " put it back, or restart",
                    self._path,
                )
        return is_same

    def require_same(self) -> None:
        """Raise DatabaseFileGone when it is another file, or none."""
        if not self.is_same():
            raise DatabaseFileGone

    def _current(self) -> tuple[int, int] | None:
        if self._path is None:
            return None
        try:
            status = os.stat(self._path)
        except OSError:
            return None
        return status.st_dev, status.st_ino
