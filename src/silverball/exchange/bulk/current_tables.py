"""The bulk tables as they may be served: a month whose people hid something is written anew before."""

import logging
import threading
from collections.abc import Callable
from datetime import datetime
from math import ceil
from pathlib import Path
from time import monotonic

from silverball.exchange.bulk import parts
from silverball.exchange.bulk.parts import PartRecord
from silverball.exchange.file_digests import FileDigests
from silverball.store import hidings
from silverball.store.engine import Store
from silverball.store.time_limits import JOBS

LOG = logging.getLogger("silverball.exchange")
# Files are written anew for at most a tenth of the time, however often somebody hides something.
PAUSE_FACTOR = 9
# After that the manifest asks for patience, and the next request goes on.
MANIFEST_SECONDS_MAX = 2.0


class CurrentTables:
    """The bulk tables of one folder."""

    def __init__(
        self,
        store: Store,
        folder: Path,
        now: Callable[[], datetime],
        clock: Callable[[], float] = monotonic,
    ) -> None:
        # A month is read in well under a second, the ratings of everybody in a few.
        self._store = store.with_limits(JOBS)
        self._folder = folder
        self._now = now
        self._clock = clock
        self._writing = threading.Lock()
        # The earliest time at which files may be written anew.
        self._next_at = float("-inf")
        self._digests = FileDigests(folder)
        # The number of hidings and the state of the folder in which all files were found current.
        self._all_current: tuple[int, int] | None = None

    def is_public(self, name: str) -> bool:
        """Whether a file of this name is a bulk table, or their manifest, and was written."""
        if name == parts.MANIFEST:
            return (self._folder / name).exists()
        match = parts.FILE_NAME.fullmatch(name)
        record = None if match is None else parts.read_record(self._folder, match["part"])
        return record is not None and any(file.file == name for file in record.files)

    def seconds_to_wait(self, name: str) -> int:
        """0 when the file of this name may be shown now, after writing it anew if need be."""
        match = parts.FILE_NAME.fullmatch(name)
        count = self._hiding_count()
        state = count, self._folder.stat().st_mtime_ns
        # Anybody may ask for the manifest as often as they like, and it stands for every file.
        if match is None and state == self._all_current:
            return 0
        needed = parts.written_parts(self._folder) if match is None else [match["part"]]
        outdated = [part for part in needed if not self._is_current(part, count)]
        if not outdated and match is not None:
            return 0
        if not self._writing.acquire(blocking=False):
            return 1
        try:
            wait = self._write_anew(outdated, count)
            if wait == 0 and match is None:
                parts.write_manifest(self._folder)
                is_unchanged = self._folder.stat().st_mtime_ns == state[1]
                self._all_current = state if is_unchanged else None
            return wait
        except OSError as error:
            # Whatever is there may name somebody who does not want it, so nothing is shown.
            LOG.error("%s cannot be written anew, so it is not served", name, exc_info=error)
            return 1
        finally:
            self._writing.release()

    def _write_anew(self, outdated: list[str], count: int) -> int:
        """Bring parts up to date; returns the seconds until the next try, 0 when all are."""
        began = self._clock()
        for part in outdated:
            if self._is_current(part, count) or self._is_confirmed(part):
                continue
            moment = self._clock()
            if moment < self._next_at:
                return ceil(self._next_at - moment)
            if moment - began > MANIFEST_SECONDS_MAX:
                return 1
            parts.write_part(self._store, part, self._folder, self._now())
            ended = self._clock()
            self._next_at = ended + PAUSE_FACTOR * (ended - moment)
        return 0

    def _is_confirmed(self, part: str) -> bool:
        """Whether the files of a part may be shown as they are, although somebody has hidden something."""
        record = parts.read_record(self._folder, part)
        if record is None or not self._is_intact(record):
            return False
        return parts.confirm_part(self._store, part, self._folder)

    def _hiding_count(self) -> int:
        with self._store.read() as db:
            return hidings.hiding_count(db)

    def _is_current(self, part: str, hiding_count: int) -> bool:
        record = parts.read_record(self._folder, part)
        return record is not None and record.hidings >= hiding_count and self._is_intact(record)

    def _is_intact(self, record: PartRecord) -> bool:
        """Whether the files are those of the record: another node may have replaced some."""
        try:
            return all(self._digests.sha256(file.file) == file.sha256 for file in record.files)
        except OSError:
            return False
