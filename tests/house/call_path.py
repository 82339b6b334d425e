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


class CallPath:
    """Calls from one source file into another, each function once."""

    def __init__(self) -> None:
        self._entered: list[str] = []
        self._leads_on: set[str] = set()

    @property
    def steps(self) -> list[str]:
        """`file: function`, in the order of the first call."""
        return [step for step in self._entered if step in self._leads_on and "<locals>" not in step]

    @property
    def files(self) -> list[str]:
        """The source files of the path, in the order in which they are entered."""
        return list(dict.fromkeys(step.split(":")[0] for step in self.steps))

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
    return f"{path.removeprefix(f'{SOURCE}/')}: {name}"


def _same_file(step: str, other: str) -> bool:
    return step.split(":", maxsplit=1)[0] == other.split(":", maxsplit=1)[0]


def _folder(step: str) -> str:
    return str(Path(step.split(":", maxsplit=1)[0]).parent)


@contextmanager
def traced() -> Iterator[CallPath]:
    """The calls made inside, in this thread and in threads that begin inside."""
    path = CallPath()
    threading.setprofile(path.note)
    sys.setprofile(path.note)
    try:
        yield path
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
