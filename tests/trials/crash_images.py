"""What a disk holds after a power cut: rebuilt from the system calls of a running server.

What was written to a file before a sync began is on the disk when the sync ends. Of what was written later
anything may be there: all, nothing, some of it, or some of its sectors.
"""

import re
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from trials.injected_faults import ATTACHED, need_strace

SECTOR = 512
CALLS = "pwrite64,ftruncate,fsync,fdatasync"
LINE = re.compile(r"^(?P<thread>\d+) +(?P<at>\d+\.\d+) (?P<rest>.*)$")
CALL = re.compile(r"^(?P<name>\w+)\(\d+<(?P<path>[^>]*)>(?:, )?(?P<arguments>.*)$")
RESUMED = re.compile(r"^<\.\.\. (?P<name>\w+) resumed>")
WRITTEN = re.compile(r'^"(?P<bytes>(?:\\x[0-9a-f]{2})*)", \d+, (?P<offset>\d+)')
HOW = ("nothing", "everything", "some", "sectors")


@contextmanager
def traced_calls(process_id: int, files: Sequence[Path], trace: Path) -> Iterator[None]:
    """Note the calls of a process that change or sync these files."""
    names = [word for file in files for word in ("-P", str(file))]
    how = ["-f", "-y", "-xx", "-ttt", "-s", "1000000", "-o", str(trace), "-e", f"trace={CALLS}"]
    tracer = subprocess.Popen(
        [need_strace(), *how, *names, "-p", str(process_id)], stderr=subprocess.PIPE, text=True
    )
    try:
        assert tracer.stderr is not None
        assert ATTACHED in tracer.stderr.readline()
        yield
    finally:
        tracer.terminate()
        tracer.communicate()


@dataclass
class Change:
    """Bytes written at an offset, or without bytes the new end of the file."""

    offset: int
    data: bytes | None

    def apply(self, content: bytearray, *, lost_sectors: Random | None = None) -> None:
        if self.data is None:
            del content[self.offset :]
            return
        content.extend(bytes(max(0, self.offset + len(self.data) - len(content))))
        for start in range(0, len(self.data), SECTOR):
            if lost_sectors is None or lost_sectors.random() < 0.5:
                piece = self.data[start : start + SECTOR]
                content[self.offset + start : self.offset + start + len(piece)] = piece


@dataclass
class DiskFile:
    """One file: what is on the disk for good, and what may be."""

    durable: bytearray
    pending: list[Change] = field(default_factory=list)

    def sync(self, count: int) -> None:
        """Bring the oldest pending changes to the disk."""
        for change in self.pending[:count]:
            change.apply(self.durable)
        del self.pending[:count]

    def after_power_cut(self, how: str, dice: Random) -> bytes:
        """The content of the file after the power was cut."""
        content = bytearray(self.durable)
        for change in self.pending:
            if how == "everything" or (how in ("some", "sectors") and dice.random() < 0.5):
                change.apply(content, lost_sectors=dice if how == "sectors" else None)
        return bytes(content)


class Disk:
    """The files of a server as a trace changes them, one line after the other."""

    def __init__(self, contents: dict[str, bytes]) -> None:
        self.files = {name: DiskFile(bytearray(content)) for name, content in contents.items()}
        # Thread -> the file that it syncs, and how much of it was pending when that began.
        self._syncing: dict[str, tuple[DiskFile, int]] = {}

    def follow(self, line: str) -> float | None:
        """Apply a line of the trace; returns its moment, or None for a line without a call."""
        matched = LINE.match(line)
        if matched is None:
            return None
        thread, rest = matched["thread"], matched["rest"]
        if resumed := RESUMED.match(rest):
            if resumed["name"].endswith("sync"):
                file, count = self._syncing.pop(thread)
                file.sync(count)
        elif call := CALL.match(rest):
            self._begin(thread, call)
        else:
            return None
        return float(matched["at"])

    def _begin(self, thread: str, call: re.Match[str]) -> None:
        file = self.files[Path(plain_path(call["path"])).name]
        arguments = call["arguments"]
        if call["name"] == "pwrite64":
            written = WRITTEN.match(arguments)
            assert written is not None, arguments[:80] + arguments[-80:]
            data = bytes.fromhex(written["bytes"].replace("\\x", ""))
            file.pending.append(Change(int(written["offset"]), data))
        elif call["name"] == "ftruncate":
            file.pending.append(Change(int(re.split(r"\D", arguments, maxsplit=1)[0]), None))
        elif "unfinished" in arguments:
            self._syncing[thread] = file, len(file.pending)
        else:
            file.sync(len(file.pending))


def plain_path(text: str) -> str:
    """A path, which strace writes in hexadecimal too."""
    return bytes.fromhex(text.replace("\\x", "")).decode() if text.startswith("\\x") else text
