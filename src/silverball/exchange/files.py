"""Files for download that are replaced at once: a reader has the old one or the new one, never a part."""

import fcntl
import glob
import hashlib
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO


@contextmanager
def replace_atomically(path: Path) -> Iterator[IO[bytes]]:
    """A new file that replaces the one at `path` on success and is deleted on failure."""
    with new_part(path) as part:
        with part.open("wb") as file:
            yield file
            file.flush()
            # Otherwise a power cut could leave an empty file under the final name.
            os.fsync(file.fileno())
        move_into_place(part, path)


@contextmanager
def new_part(path: Path) -> Iterator[Path]:
    """A new empty file beside `path`, deleted at the end unless it was moved.

    It is locked while its writer lives, so that the next writer knows and deletes what a killed one left.
    Two nodes may write into the same folder.
    """
    for left in path.parent.glob(f".{glob.escape(path.name)}.*.part"):
        _delete_unless_written(left)
    part = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
    opened = os.open(part, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
    try:
        fcntl.flock(opened, fcntl.LOCK_EX)
        yield part
    finally:
        part.unlink(missing_ok=True)
        os.close(opened)


def _delete_unless_written(part: Path) -> None:
    try:
        opened = os.open(part, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return
    try:
        with suppress(BlockingIOError):
            fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
            part.unlink(missing_ok=True)
    finally:
        os.close(opened)


@contextmanager
def try_lock(folder: Path) -> Iterator[bool]:
    """Lock the folder against other nodes of this machine; False when one of them has the lock.

    The system gives it up when the process ends, however that happens.
    """
    opened = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        is_locked = True
        try:
            fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            is_locked = False
        yield is_locked
    finally:
        os.close(opened)


def move_into_place(new: Path, path: Path) -> None:
    """Replace the file at `path` by a complete new one."""
    _advance_mtime(new, path)
    new.replace(path)


def _advance_mtime(new: Path, old: Path) -> None:
    """Make the new file younger by whole seconds, as If-Modified-Since has no smaller ones."""
    try:
        known = int(old.stat().st_mtime)
    except FileNotFoundError:
        return
    seconds = max(int(new.stat().st_mtime), known + 1)
    os.utime(new, (seconds, seconds))


# Digests of files that may be replaced at any moment, so that a file is read once.


class FileDigests:
    """SHA-256 of the files of a folder, remembered by inode, modification time and size."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._known: dict[str, tuple[tuple[int, int, int], str]] = {}

    def sha256(self, name: str) -> str:
        """The digest of a file as it is now, in hex. Raises OSError where there is none."""
        with (self._folder / name).open("rb") as file:
            status = os.fstat(file.fileno())
            identity = (status.st_ino, status.st_mtime_ns, status.st_size)
            known = self._known.get(name)
            if known is None or known[0] != identity:
                known = identity, hashlib.file_digest(file, "sha256").hexdigest()
                self._known[name] = known
        return known[1]
