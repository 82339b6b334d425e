"""A file that the processes of one site map into memory, to know when the others commit.

Each process that writes the database has a column of cells, one 64-bit cell for each bucket of scopes, and
only it writes them: nothing is read, changed and written back across processes, so a process that dies
holds nothing. A writer marks the buckets of what it changed just before its commit and again just after;
what somebody read from the database holds as long as the cells of its bucket are what they were before
that reading, with no mark between its two sides. Two scopes in one bucket cost a reading more, never an
old answer.

A cell has the number of commits that are under way in its lowest bits, and a number that grows with every
mark above them. Reading it in halves is harmless: the value differs from the earlier one either way.
"""

import fcntl
import mmap
import os
import struct
import sys
import threading
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Self

from silverball.kit.private_files import PRIVATE_MODE

TOURNAMENT_BUCKETS = 65_536
# The scope of everything that is not below one tournament, and the accounts, have buckets of their own.
WORLD_BUCKET = TOURNAMENT_BUCKETS
ACCOUNTS_BUCKET = TOURNAMENT_BUCKETS + 1
BUCKETS = TOURNAMENT_BUCKETS + 2
# One worker more than there are, for the one that takes another's place; and commands beside the server.
SPARE_COLUMNS = 1
OUTSIDER_COLUMNS = 3
SUPERVISOR = 0
CELL_BYTES = 8
UNDER_WAY_BITS = 16
UNDER_WAY = (1 << UNDER_WAY_BITS) - 1
# Behind the buckets: cells of intervals, each a digest of its key in front of a time in tenths of seconds.
INTERVALS = 65_536
TIME_BITS = 26
TENTHS = (1 << TIME_BITS) - 1
# And a number of each process: its sockets.
SOCKETS = BUCKETS + INTERVALS
ROWS = SOCKETS + 1
MAGIC = b"silverb1"
HEADER = struct.Struct("<8sQ")
HEADER_BYTES = 64
# The bytes of the file that stand for locks: one for the jobs, and one for each column.
JOBS_LOCK = 0
COLUMN_LOCKS = 1


class CellsUnusable(Exception):
    """The file is of another version, or is being made."""


class SharedCells:
    """The cells of all processes, seen by one of them. Its methods may be called from any thread."""

    def __init__(self, descriptor: int, column: int) -> None:
        """Map an open file, which this object closes. Raises CellsUnusable."""
        self._descriptor = descriptor
        self.column = column
        header = os.pread(descriptor, HEADER.size, 0)
        if len(header) < HEADER.size or not header.startswith(MAGIC):
            raise CellsUnusable
        self.workers = HEADER.unpack(header)[1]
        self._width = _columns(self.workers)
        self._row_bytes = self._width * CELL_BYTES
        self._bytes = mmap.mmap(descriptor, _file_bytes(self.workers))
        self._view = memoryview(self._bytes)[HEADER_BYTES:]
        self._cells = self._view.cast("Q")
        under_way = UNDER_WAY.to_bytes(CELL_BYTES, sys.byteorder) * self._width
        self._under_way_mask = int.from_bytes(under_way, sys.byteorder)
        # The cells of this column are written by threads of this process only, one at a time.
        self._lock = threading.Lock()

    @classmethod
    def create(cls, path: Path, workers: int) -> Self:
        """Make the file of so many workers anew, for the supervisor. Raises OSError."""
        path.unlink(missing_ok=True)
        flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
        descriptor = os.open(path, flags, PRIVATE_MODE)
        os.truncate(descriptor, _file_bytes(workers))
        # Last: whoever opens the file before sees no header.
        os.pwrite(descriptor, HEADER.pack(MAGIC, workers), 0)
        return cls(descriptor, SUPERVISOR)

    @property
    def descriptor(self) -> int:
        """The open file, which workers inherit."""
        return self._descriptor

    @property
    def worker_columns(self) -> range:
        """The columns of workers, one more than there are workers."""
        return range(1, 1 + self.workers + SPARE_COLUMNS)

    @property
    def outsider_columns(self) -> range:
        """The columns of commands beside the server."""
        return range(self.worker_columns.stop, self._width)

    # What readers ask

    def moment(self, bucket: int) -> bytes:
        """The cells of a bucket: equal bytes mean that nobody has committed in between."""
        start = HEADER_BYTES + bucket * self._row_bytes
        return self._bytes[start : start + self._row_bytes]

    def is_quiet(self, moment: bytes) -> bool:
        """Whether no commit was under way at this moment; else it says nothing about what follows."""
        return not int.from_bytes(moment, sys.byteorder) & self._under_way_mask

    # What writers say

    def begin(self, buckets: Iterable[int]) -> None:
        """Mark these buckets before a commit."""
        self._mark(buckets, 1)

    def end(self, buckets: Iterable[int]) -> None:
        """Mark these buckets after a commit, or after one that failed."""
        self._mark(buckets, -1)

    def touch(self, buckets: Iterable[int]) -> None:
        """Let everybody ask the database again about these buckets, because it has changed."""
        self._mark(buckets, 0)

    def touch_all(self) -> None:
        """Let everybody ask the database again about everything."""
        self._mark(range(BUCKETS), 0)

    def _mark(self, buckets: Iterable[int], commits: int) -> None:
        cells, width, column = self._cells, self._width, self.column
        with self._lock:
            for bucket in buckets:
                place = bucket * width + column
                value = cells[place]
                marks, under_way = value >> UNDER_WAY_BITS, value & UNDER_WAY
                cells[place] = (marks + 1) << UNDER_WAY_BITS | (under_way + commits)

    def settle(self, column: int) -> None:
        """End the marks of a process that has died. Called by the supervisor, after its death."""
        cells, width = self._cells, self._width
        for place in range(column, BUCKETS * width, width):
            value = cells[place]
            if value & UNDER_WAY:
                cells[place] = ((value >> UNDER_WAY_BITS) + 1) << UNDER_WAY_BITS
        cells[SOCKETS * width + column] = 0

    def is_under_way(self, column: int) -> bool:
        """Whether a process has a commit under way; each one marks the world."""
        return bool(self._cells[WORLD_BUCKET * self._width + column] & UNDER_WAY)

    # Intervals, as kit.edge.rate_limit asks for them

    def free_at(self, key: int, now: float) -> float:
        """The end of the interval of a key of 64 bits, as any process noted it; 0 when there is none."""
        row, tag = (BUCKETS + key % INTERVALS) * self._width, key >> TIME_BITS
        newest, tenths_now = 0, int(now * 10)
        for cell in self._cells[row : row + self._width]:
            if cell >> TIME_BITS == tag:
                # The clock's lowest bits are noted; the end is less than half their range away.
                left = ((cell & TENTHS) - tenths_now + TENTHS // 2) % (TENTHS + 1) - TENTHS // 2
                newest = max(newest, tenths_now + left)
        return newest / 10

    def note(self, key: int, free_at: float) -> None:
        """Note the end of a key's interval, in place of another key's that shares the cell."""
        place = (BUCKETS + key % INTERVALS) * self._width + self.column
        self._cells[place] = (key >> TIME_BITS) << TIME_BITS | (int(free_at * 10) & TENTHS)

    # Sockets

    def note_sockets(self, number: int) -> None:
        """Note the sockets of this process."""
        self._cells[SOCKETS * self._width + self.column] = number

    def sockets_elsewhere(self) -> int:
        """The sockets of the other processes."""
        row = SOCKETS * self._width
        return sum(self._cells[row : row + self._width]) - self._cells[row + self.column]

    # Locks, which end with the process that holds them

    def try_lock(self, number: int) -> bool:
        """Take a lock of the file if no other process has it."""
        try:
            fcntl.lockf(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, number)
        except OSError:
            return False
        return True

    def unlock(self, number: int) -> None:
        """Give a lock back."""
        fcntl.lockf(self._descriptor, fcntl.LOCK_UN, 1, number)

    def try_jobs(self) -> bool:
        """Take the lock of the process that runs the jobs."""
        return self.try_lock(JOBS_LOCK)

    def release_jobs(self) -> None:
        """Let another process run the jobs."""
        self.unlock(JOBS_LOCK)

    def try_column(self, column: int) -> bool:
        """Take the lock of a column for commands beside the server."""
        return self.try_lock(COLUMN_LOCKS + column)

    def release_column(self, column: int) -> None:
        """Give the lock of a column back."""
        self.unlock(COLUMN_LOCKS + column)

    def close(self) -> None:
        """Give the memory back. No other method may be called afterwards."""
        self._cells.release()
        self._view.release()
        self._bytes.close()
        os.close(self._descriptor)


def buckets_of(tournament_ids: Collection[int], *, has_accounts: bool) -> set[int]:
    """The buckets that a commit changes: the world's always."""
    buckets = {tournament_id % TOURNAMENT_BUCKETS for tournament_id in tournament_ids}
    buckets.add(WORLD_BUCKET)
    if has_accounts:
        buckets.add(ACCOUNTS_BUCKET)
    return buckets


def bucket_of(scope_id: int) -> int:
    """The bucket of a tournament, or of the world (0)."""
    return scope_id % TOURNAMENT_BUCKETS if scope_id else WORLD_BUCKET


def _columns(workers: int) -> int:
    return 1 + workers + SPARE_COLUMNS + OUTSIDER_COLUMNS


def _file_bytes(workers: int) -> int:
    return HEADER_BYTES + ROWS * _columns(workers) * CELL_BYTES
