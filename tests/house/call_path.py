"""The functions that a request goes through, in the order of their first call.

Listed are functions that were called from another file and call into another folder: where the path goes on.
Functions that only answer a question, and helpers inside a folder, are not steps of the way.
"""

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

import silverball

SOURCE = Path(silverball.__file__).parent
# Counting what happens is no step of it.
COUNTERS = "kit/measures.py"
# How the names of the front door's threads begin.
REQUEST_THREADS = ("silverball_", "silverball-writer_")


class CallPath:
    """Calls from one source file into another, each function once."""

    def __init__(self) -> None:
        self._entered: list[str] = []
        self._leads_on: set[str] = set()
        self.is_noting = False

    @property
    def steps(self) -> list[str]:
        """`file: function`, in the order of the first call."""
        return [step for step in self._entered if step in self._leads_on and "<locals>" not in step]

    @property
    def files(self) -> list[str]:
        """The source files of the path, in the order in which they are entered."""
        return list(dict.fromkeys(step.split(":")[0] for step in self.steps))

    def note_in_thread(self, frame: FrameType, event: str, argument: object) -> None:
        """Note a call in another thread, unless it works on something else than requests."""
        if self.is_noting and threading.current_thread().name.startswith(REQUEST_THREADS):
            self.note(frame, event, argument)

    def note(self, frame: FrameType, event: str, _argument: object) -> None:
        """Note a call; a profile function of `sys.setprofile`."""
        if event != "call" or frame.f_back is None:
            return
        callee, caller = _step(frame), _step(frame.f_back)
        if callee is None or (caller is not None and _same_file(callee, caller)):
            return
        if callee not in self._entered:
            self._entered.append(callee)
        outer: FrameType | None = frame.f_back
        while outer is not None:
            step = _step(outer)
            if step is None:
                return
            if step in self._entered and not _same_file(step, callee):
                if _folder(step) != _folder(callee):
                    self._leads_on.add(step)
                return
            outer = outer.f_back


def _step(frame: FrameType) -> str | None:
    path, name = frame.f_code.co_filename, frame.f_code.co_qualname
    if not path.startswith(f"{SOURCE}/"):
        return None
    file = path.removeprefix(f"{SOURCE}/")
    return None if file == COUNTERS else f"{file}: {name}"


def _same_file(step: str, other: str) -> bool:
    return step.split(":", maxsplit=1)[0] == other.split(":", maxsplit=1)[0]


def _folder(step: str) -> str:
    """The folder of a step; the store with all its folders is one."""
    folder = str(Path(step.split(":", maxsplit=1)[0]).parent)
    return "store" if folder.startswith("store/") else folder


@contextmanager
def traceable_threads() -> Iterator[CallPath]:
    """A path for `traced`; threads of requests are started with a server, so it has to be started inside."""
    path = CallPath()
    threading.setprofile(path.note_in_thread)
    try:
        yield path
    finally:
        threading.setprofile(None)


@contextmanager
def traced(path: CallPath) -> Iterator[None]:
    """Note the calls made inside, in this thread and in those of requests."""
    path.is_noting = True
    sys.setprofile(path.note)
    try:
        yield
    finally:
        sys.setprofile(None)
        path.is_noting = False
