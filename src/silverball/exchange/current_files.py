"""The bulk files as they may be shown: written anew before anybody sees a row that was hidden meanwhile."""

import logging
import threading
from collections.abc import Callable
from datetime import datetime
from math import ceil
from pathlib import Path
from time import monotonic

from silverball.exchange import nightly
from silverball.exchange.files import FileDigests
from silverball.exchange.nightly import BulkFile
from silverball.store.database.engine import Store
from silverball.store.people import hidings

LOG = logging.getLogger("silverball.exchange")
# A file is written anew for at most a tenth of the time, however often somebody hides something.
PAUSE_FACTOR = 9


class CurrentFiles:
    """The bulk files of one folder."""

    def __init__(
        self,
        store: Store,
        folder: Path,
        now: Callable[[], datetime],
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self._store = store
        self._folder = folder
        self._now = now
        self._clock = clock
        self._writing = threading.Lock()
        # File name -> the earliest time at which it may be written anew.
        self._next_at: dict[str, float] = {}
        self._digests = FileDigests(folder)
        self._exports = {
            name: export
            for export in nightly.BULK_FILES
            if export.has_people
            for name in (export.name, export.manifest_name)
        }

    def seconds_to_wait(self, name: str) -> int:
        """0 when the file of this name may be shown now, after writing it anew if need be."""
        export = self._exports.get(name)
        if export is None or not (self._folder / export.name).exists() or self._is_current(export):
            return 0
        if not self._writing.acquire(blocking=False):
            return 1
        try:
            return 0 if self._is_current(export) else self._rewrite(export)
        finally:
            self._writing.release()

    def _is_current(self, export: BulkFile) -> bool:
        with self._store.read() as db:
            count = hidings.hiding_count(db)
        stamp = nightly.read_stamp(export, self._folder)
        # A file of a version without stamps is as good as any before the first hiding.
        if stamp is None:
            return count == 0
        try:
            return stamp.hidings == count and stamp.sha256 == self._digests.sha256(export.name)
        except OSError:
            return False

    def _rewrite(self, export: BulkFile) -> int:
        began = self._clock()
        wait = self._next_at.get(export.name, began) - began
        if wait > 0:
            return ceil(wait)
        try:
            nightly.write_bulk_file(self._store, export, self._folder, self._now())
        except OSError as error:
            # Whatever is there names somebody who does not want it, so nothing is shown.
            LOG.error("%s cannot be written anew, so it is not served", export.name, exc_info=error)
            self._next_at[export.name] = began + 1
            return 1
        ended = self._clock()
        self._next_at[export.name] = ended + PAUSE_FACTOR * (ended - began)
        return 0
