"""Whether the file of an SQLite database is whole, and the one that the log beside it was written for.

A server notes beside its database which file it serves and which log belongs to it. A start after an unclean
end, an answer of SQLite that the file is damaged, and a change of the file that is no checkpoint have it
checked; until the check is content nothing is written.
"""

import contextlib
import logging
import os
import sqlite3
import threading
import time
from collections.abc import Callable
from pathlib import Path

import msgspec
from msgspec import Struct

from silverball.kit import files
from silverball.kit.values import decode
from silverball.store.database import faults
from silverball.store.database.faults import DatabaseUnavailable
from silverball.store.database.files import LOCK_SECONDS, open_existing

LOG = logging.getLogger("silverball.store")
NOTE_ENDING = ".state"
# A larger file is checked beside the running server.
BYTES_CHECKED_BEFORE_READY = 200_000_000
LOWEST_PRIORITY = 19
# Of SQLite's machine, between two looks at the time.
INSTRUCTIONS_PER_LOOK = 100_000
# Until a file that was not content is checked again: doubled each time.
RECHECK_SECONDS, RECHECK_SECONDS_MAX = 1.0, 60.0
# An error of SQLite so soon after a check that was content says nothing new.
SOUND_SECONDS = 60.0
HOW_TO_MEND = (
    "Stop the server, then put a backup in its place: silverball restore FILE (docs/backup.md). Keep the"
    " files as they are until then"
)

# The formats of SQLite's files: https://www.sqlite.org/fileformat2.html and walformat.html.
WAL_HEADER_BYTES = 32
WAL_MAGIC = (0x377F0682, 0x377F0683)
# Each restart of a log raises its first salt by one; a second passes until it is noted.
RESTARTS_MAX = 1_000


class DatabaseDamaged(DatabaseUnavailable):
    """The file of the database is damaged, or may be: it is being checked."""

    sentence = (
        "The database may be damaged, and nothing is written to it until it has been checked. Its operator"
        " finds what to do in the server's log and with: silverball doctor"
    )


class ForeignLog(Exception):
    """A log of SQLite lies beside a database that it was not written for; the message is a sentence."""

    def __init__(self, file: Path) -> None:
        super().__init__(
            f"{file}-wal was not written for the database that is at {file} now, and opening both would"
            f" damage it. If an older copy was put there, set the log aside: mv {file}-wal {file}-wal.aside -"
            f" If both were brought here together, forget what was here before: rm {file}{NOTE_ENDING}"
        )


class FileNote(Struct, frozen=True):
    """A server's note about the database that it serves."""

    inode: int
    # Of its log; None without one.
    salts: tuple[int, int] | None
    # The world's revision as the file alone has it, without the log; 0 when unknown.
    revision: int
    # Whether it is in use, or its server has ended uncleanly.
    is_open: bool
    fault: str = ""


def require_own_log(file: Path) -> None:
    """Raise ForeignLog where the log beside a database is another one's. Called before it is opened."""
    log = _read_log(Path(f"{file}-wal"))
    if log is None:
        return
    note, revision = load_note(file), revision_in_file(file)
    is_older = note is not None and revision is not None and revision < note.revision
    is_unknown = note is not None and note.salts is not None and not _follows(log, note.salts)
    if _has_no_log(file) or is_older or is_unknown:
        raise ForeignLog(file)


def forget_ended_log(file: Path) -> None:
    """Note that the log is gone, before a command begins another one."""
    note = load_note(file)
    is_any = note is not None and (note.salts is not None or note.revision > 0)
    if note is not None and is_any and _read_log(Path(f"{file}-wal")) is None:
        _save_note(file, msgspec.structs.replace(note, salts=None, revision=0))


def load_note(file: Path) -> FileNote | None:
    """The note beside a database; None when there is none, or none that can be read."""
    try:
        return decode(Path(f"{file}{NOTE_ENDING}").read_bytes(), FileNote)
    except (OSError, msgspec.MsgspecError):
        return None


def quick_fault(file: Path, seconds_max: float) -> str | None:
    """The fault that SQLite's quick check finds in the time; empty for none, None when it came to no end."""
    until = time.monotonic() + seconds_max
    try:
        db = open_existing(file, LOCK_SECONDS)
    except sqlite3.Error:
        return None
    with contextlib.closing(db):
        db.set_progress_handler(lambda: time.monotonic() > until, INSTRUCTIONS_PER_LOOK)
        return _quick_fault(db)


def _quick_fault(db: sqlite3.Connection) -> str | None:
    try:
        (found,) = db.execute("PRAGMA quick_check(1)").fetchone()
    except sqlite3.Error as error:
        return str(error) if faults.is_damage(error) else None
    return "" if found == "ok" else str(found)


class _Look(Struct, frozen=True):
    """The file of a database at one moment."""

    inode: int
    size: int
    changed_at: int
    # As `_checkpoints` returns it.
    checkpoints: bytes | None


class FileHealth:
    """The health of one SQLite file, from `start` to `close`; without a path, or before, all is well."""

    def __init__(self, file: Path | None, forget: Callable[[], None]) -> None:
        """`forget` drops what is kept in memory of the file."""
        self._file = file
        self._forget = forget
        self.is_sound = True
        # Whether the last server had another file here.
        self.is_another_file = False
        # Whether the file has changed past SQLite, since `take_change`.
        self._has_changed = False
        self._fault = ""
        self._sound_at = float("-inf")
        self._lock = threading.Lock()
        self._suspicions = 0
        self._is_checking = False
        self._is_started = False
        self._stop = threading.Event()
        self._checker: sqlite3.Connection | None = None
        self._last: _Look | None = None
        self._note: FileNote | None = None
        # Closing the file gives up this process's locks on it, so it stays open as long as the database.
        self._index = -1

    def start(self) -> None:
        """Begin to watch the file; check it first where its last server has ended uncleanly."""
        if self._is_started or self._file is None or not self._file.exists():
            return
        note = load_note(self._file)
        status = self._file.stat()
        self._is_started = True
        self.is_another_file = note is not None and note.inode != status.st_ino
        if note is not None and (note.is_open or note.fault):
            self._check_after_unclean_end(status.st_size)
        self.look()

    def _check_after_unclean_end(self, size: int) -> None:
        if size > BYTES_CHECKED_BEFORE_READY:
            threading.Thread(target=self._check_beside, name="silverball-check", daemon=True).start()
            return
        LOG.info("the server before has ended uncleanly: the database is checked")
        self._check_once()

    def _check_beside(self) -> None:
        _yield_to_others()
        self._check_once()

    def _check_once(self) -> None:
        fault = self._check()
        if fault != "" and not self._stop.is_set():
            self.suspect(f"is damaged ({fault})" if fault else "could not be checked")

    def require_sound(self) -> None:
        """Raise DatabaseDamaged unless the file is whole, as far as anybody knows."""
        if not self.is_sound:
            raise DatabaseDamaged

    def notice(self, error: BaseException) -> bool:
        """Have the file checked if the error says that it is damaged; returns whether it is in doubt."""
        if not self._is_started or not faults.is_damage(error):
            return False
        if time.monotonic() >= self._sound_at + SOUND_SECONDS:
            self.suspect("cannot be read everywhere")
        return not self.is_sound

    def suspect(self, reason: str) -> None:
        """Stop writes until the file is found to be whole."""
        with self._lock:
            self._suspicions += 1
            is_known, self.is_sound = not self.is_sound, False
            if self._is_checking:
                return
            try:
                threading.Thread(target=self._check_until_sound, name="silverball-check", daemon=True).start()
                self._is_checking = True
            except RuntimeError:
                # The system gives no more threads; the next look tries again.
                return
        if not is_known:
            LOG.error("the database %s %s: nothing is written until it is checked", self._file, reason)

    def look(self) -> None:
        """Look whether the file has changed otherwise than by a checkpoint, and note what belongs to it."""
        if not self._is_started or self._file is None:
            return
        before = self._checkpoints()
        try:
            status = os.stat(self._file)
        except OSError:
            return
        after = self._checkpoints()
        seen = _Look(status.st_ino, status.st_size, status.st_mtime_ns, before)
        last, self._last = self._last, seen
        if last is not None and seen.inode != last.inode:
            # `WatchedFile` says so, and nothing is written to it.
            return
        is_changed = last is not None and (seen.size, seen.changed_at) != (last.size, last.changed_at)
        if is_changed and not _is_checkpoint(last, before, after):
            self._has_changed = True
            self.suspect("was changed by another program")
        elif not self.is_sound:
            if not self._is_checking:
                self.suspect("is checked again")
        elif before == after and not _is_running(after):
            self._compare(status.st_ino, is_changed=is_changed)

    def _compare(self, inode: int, *, is_changed: bool) -> None:
        """Note what belongs to the file, unless it has gone back. No checkpoint runs."""
        assert self._file is not None
        note = self._note
        revision = note.revision if note and not is_changed else revision_in_file(self._file)
        if note is not None and (revision is None or revision < note.revision):
            self._has_changed = True
            self.suspect("was replaced by an older copy")
            return
        note = FileNote(inode, _read_log(Path(f"{self._file}-wal")), revision or 0, is_open=True)
        if note != self._note:
            self._note = note
            _save_note(self._file, note)

    def take_change(self) -> bool:
        """Whether the file was changed past SQLite and is whole again, once."""
        if not self._has_changed or not self.is_sound:
            return False
        self._has_changed = False
        return True

    def close(self) -> None:
        """Stop checking, and note that the server has ended cleanly. The database is closed already."""
        if not self._is_started:
            return
        self._stop.set()
        checker = self._checker
        if checker is not None:
            with contextlib.suppress(sqlite3.Error):
                checker.interrupt()
        self._is_started = False
        if self._file is not None and self._note is not None:
            _save_note(self._file, msgspec.structs.replace(self._note, salts=None, is_open=False))
        if self._index >= 0:
            os.close(self._index)
            self._index = -1

    def _checkpoints(self) -> bytes | None:
        """The log's salts, and how much of it is in the file and was to be; None without an index of it."""
        if self._index < 0:
            with contextlib.suppress(OSError):
                self._index = os.open(f"{self._file}-shm", os.O_RDONLY | os.O_CLOEXEC)
        if self._index < 0:
            return None
        index = os.pread(self._index, 132, 0)
        return index[32:40] + index[96:100] + index[128:132] if len(index) == 132 else None

    def _check(self) -> str | None:
        assert self._file is not None
        try:
            db = open_existing(self._file, LOCK_SECONDS)
        except sqlite3.Error:
            return None
        with contextlib.closing(db):
            self._checker = db
            try:
                return _quick_fault(db)
            finally:
                self._checker = None

    def _check_until_sound(self) -> None:
        _yield_to_others()
        pause = RECHECK_SECONDS
        while not self._stop.is_set():
            suspicions = self._suspicions
            fault = self._check()
            if fault == "":
                self._forget()
                with self._lock:
                    if suspicions != self._suspicions:
                        continue
                    # What is noted may be of the file before.
                    self._fault, self._note = "", None
                    self._sound_at = time.monotonic()
                    self.is_sound, self._is_checking = True, False
                LOG.warning("the database %s is whole: it is written to again", self._file)
                return
            if fault and fault != self._fault and not self._stop.is_set():
                self._fault = fault
                LOG.error("the database %s is damaged: %s. %s", self._file, fault, HOW_TO_MEND)
                if self._note is not None and self._file is not None:
                    self._note = msgspec.structs.replace(self._note, fault=fault)
                    _save_note(self._file, self._note)
            self._stop.wait(pause)
            pause = min(2 * pause, RECHECK_SECONDS_MAX)


def _is_checkpoint(last: _Look | None, before: bytes | None, after: bytes | None) -> bool:
    """Whether a checkpoint ran since the last look, or runs now."""
    if last is None or after is None or _is_running(before) or _is_running(after):
        return True
    return last.checkpoints != after


def _is_running(checkpoints: bytes | None) -> bool:
    return checkpoints is not None and checkpoints[8:12] != checkpoints[12:16]


def _yield_to_others() -> None:
    """Give this thread the lowest priority, where threads have one."""
    with contextlib.suppress(OSError, AttributeError):
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), LOWEST_PRIORITY)


def revision_in_file(file: Path) -> int | None:
    """The world's revision as the last checkpoint left it in the file; None where that cannot be read.

    It rises with every commit, so an older copy has a lower one.
    """
    try:
        # An immutable file is read without its log, and without locks.
        with contextlib.closing(open_existing(file, LOCK_SECONDS, options="mode=ro&immutable=1")) as db:
            (revision,) = db.execute("SELECT sum(revision) FROM world").fetchone()
    except sqlite3.Error as error:
        # The table may still be in the log alone.
        return None if faults.is_damage(error) else 0
    return int(revision or 0)


def _has_no_log(file: Path) -> bool:
    """Whether the head of the file has the version of a database that is without a log."""
    with contextlib.suppress(OSError), file.open("rb") as opened:
        return opened.read(19)[18:] == b"\x01"
    return False


def _read_log(log: Path) -> tuple[int, int] | None:
    """The salts of a log that holds something; None without one."""
    with contextlib.suppress(OSError), log.open("rb") as opened:
        head = opened.read(WAL_HEADER_BYTES + 24)
        salts, of_first = head[16:24], head[40:48]
        if len(of_first) == 8 and int.from_bytes(head[:4]) in WAL_MAGIC and salts == of_first:
            return int.from_bytes(salts[:4]), int.from_bytes(salts[4:])
    return None


def _follows(salts: tuple[int, int], noted: tuple[int, int]) -> bool:
    """Whether a log is the noted one, or comes from a restart of it."""
    restarts = (salts[0] - noted[0]) % (1 << 32)
    return salts == noted if restarts == 0 else restarts <= RESTARTS_MAX


def _save_note(file: Path, note: FileNote) -> None:
    """Write a note; one that cannot be written is left out, as the disk may be full or not ours."""
    unfinished = Path(f"{file}{NOTE_ENDING}-new")
    try:
        files.create_or_tighten(unfinished)
        unfinished.write_bytes(msgspec.json.encode(note))
        os.replace(unfinished, f"{file}{NOTE_ENDING}")
    except OSError as error:
        LOG.warning("cannot note which log belongs to the database: %s", error)
