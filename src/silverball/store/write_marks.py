"""Marks of commits for the workers of the same machine, by every process that writes the database.

A worker has its column of the shared cells from its supervisor. Any other process on the machine (a command,
an import) finds the file of the cells beside an SQLite database and takes a column for itself.
"""

import logging
import os
import threading
from collections.abc import Collection
from types import TracebackType
from typing import Self

from silverball.kit.shared_cells import CellsUnusable, SharedCells, buckets_of

LOG = logging.getLogger("silverball.store")
ENDING = ".workers"
# Device, number and process -> the cells that this process has a column of; None without a free one. One for
# all stores of a process, as a column has one writer; a fork has to take a column of its own.
_attached: dict[tuple[int, int, int], SharedCells | None] = {}
_attaching = threading.Lock()


class WriteMarks:
    """The marks of one write, from just before its commit until just after."""

    def __init__(self, cells: SharedCells | None) -> None:
        self._cells = cells
        self._buckets: set[int] = set()

    def __enter__(self) -> Self:
        return self

    def begin(self, tournament_ids: Collection[int], *, has_accounts: bool) -> None:
        """Mark what the commit that follows changes."""
        if self._cells is not None:
            buckets = buckets_of(tournament_ids, has_accounts=has_accounts)
            self._cells.begin(buckets)
            self._buckets = buckets

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        if self._cells is not None:
            self._cells.end(self._buckets)


def find_cells(path: str | None) -> SharedCells | None:
    """The cells beside a database, with a column of this process; None while no workers serve it."""
    # Mostly there is none, and an error costs more than the question.
    if path is None or not os.access(path, os.F_OK):
        return None
    try:
        status = os.stat(path)
    except OSError:
        return None
    key = (status.st_dev, status.st_ino, os.getpid())
    with _attaching:
        if key not in _attached:
            _attached[key] = _attach(path)
        return _attached[key]


def _attach(path: str) -> SharedCells | None:
    try:
        cells = SharedCells(os.open(path, os.O_RDWR | os.O_CLOEXEC), 0)
    except (OSError, CellsUnusable, ValueError):
        return None
    for column in cells.outsider_columns:
        if cells.try_column(column):
            cells.column = column
            return cells
    name = os.path.basename(path)
    LOG.warning("the workers notice the changes of this process within a second: %s is full", name)
    cells.close()
    return None
