"""Files read in a process of their own: whatever a spreadsheet does to its reader, the server goes on."""

import pickle
import threading
from collections.abc import Callable

import msgspec
from msgspec import Struct

from silverball.kit.errors import Invalid
from silverball.kit.processes import SpawnedProcess
from silverball.service.sheets import sources, workbooks
from silverball.service.sheets.sources import ListSource, ReadList

# Shorter texts are read where they arrive.
TEXT_BYTES_MAX = 100_000


class _Answer(Struct, frozen=True):
    """The list as the process read it, or the faults of it."""

    read: ReadList | None = None
    faults: dict[str, list[str]] = msgspec.field(default_factory=dict)


def answer(source: ListSource) -> bytes:
    """The answer of the process."""
    try:
        return msgspec.msgpack.encode(_Answer(sources.read_list(source)))
    except Invalid as refused:
        return msgspec.msgpack.encode(_Answer(None, refused.errors))


class ReadingProcess:
    """Reads one file after the other, each in a new process."""

    def __init__(self, module: str, setup: Callable[[], bytes]) -> None:
        self._process = SpawnedProcess(module, setup)
        # Pages are answered in threads.
        self._lock = threading.Lock()

    def read(self, source: ListSource) -> ReadList:
        """The list. Raises Invalid for what cannot be read, and ProcessEnded."""
        if not workbooks.is_workbook(source.file) and len(source.file) <= TEXT_BYTES_MAX:
            return sources.read_list(source)
        with self._lock:
            try:
                found = msgspec.msgpack.decode(self._process.ask(pickle.dumps(source)), type=_Answer)
            finally:
                self._process.close()
        if found.read is None:
            raise Invalid(found.faults)
        return found.read

    def close(self) -> None:
        """End what is being read."""
        self._process.close()
