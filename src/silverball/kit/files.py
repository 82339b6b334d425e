"""Files that only the account of the server may read: databases and secrets."""

import contextlib
import logging
import os
import stat
from pathlib import Path

from silverball.kit import logs

LOG = logging.getLogger("silverball.files")
PRIVATE_MODE = 0o600
PRIVATE_FOLDER_MODE = 0o700
_OTHERS = stat.S_IRWXG | stat.S_IRWXO


def create_or_tighten(path: Path) -> None:
    """Make an empty file that only its owner may read, or take an existing one away from all others.

    Changes nothing where that is impossible: whoever opens the file next says what is wrong with it.
    """
    with contextlib.suppress(OSError):
        # The mode is given at creation, so that there is no moment in which others could open the file.
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, PRIVATE_MODE))
        return
    tighten(path)


def tighten(path: Path) -> None:
    """Take an existing file away from all but its owner, and log that it was open to others."""
    try:
        mode = stat.S_IMODE(path.stat().st_mode)
    except OSError:
        return
    if not mode & _OTHERS:
        return
    try:
        path.chmod(mode & ~_OTHERS)
    except OSError:
        LOG.warning("others may read this file, and its mode cannot be changed: %s", path)
        return
    logs.log_line(LOG, "others could read this file until now", file=str(path), mode=f"{mode:04o}")


def sync_folder(folder: Path) -> None:
    """Wait until the names of the files in a folder are on the disk."""
    opened = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)
