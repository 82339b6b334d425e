"""Digests of files that may be replaced at any moment, so that a file is read once."""

import hashlib
import os
from pathlib import Path


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
