"""Whole copies of a database: made while servers write to it, checked, and put in its place."""

import contextlib
import logging
import os
import re
import shutil
import sqlite3
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

from sqlalchemy import make_url

from silverball.kit import files
from silverball.store.database.faults import DatabaseUnavailable

SQLITE_HEADER = b"SQLite format 3\0"
DUMP_HEADER = b"PGDMP"
# Another program that has the file open keeps its lock for longer than this.
LOCK_SECONDS = 1.0
_ONLY_CLIENTS = (
    "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
    " AND backend_type = 'client backend' AND pid <> pg_backend_pid()"
)
# Lines of a dump's table of contents.
OF_NAME_INDEXES = re.compile(r" (EXTENSION (- )?pg_trgm|INDEX \S+ \w+_name_search)\b")
_TABLES = "SELECT count(*) FROM pg_tables WHERE schemaname NOT IN ('pg_catalog', 'information_schema')"


class CopyFailed(Exception):
    """A copy that could not be made, checked or loaded; the message is a sentence."""


class DatabaseInUse(Exception):
    """Another program has the database open."""


def copy_sqlite(source: Path, target: Path) -> None:
    """Copy a database that may be in use to a file that exists and is empty.

    The copy is of one moment, and writers do not wait for it. Raises CopyFailed.
    """
    try:
        with (
            contextlib.closing(open_existing(source)) as original,
            contextlib.closing(open_existing(target)) as copy,
        ):
            # All pages in one step: the copy would begin anew whenever somebody writes in between.
            original.backup(copy, pages=-1)
    except sqlite3.Error as error:
        raise CopyFailed(f"{source} cannot be copied: {error}.") from error
    make_single_file(target)


def make_single_file(file: Path) -> None:
    """Put all content of a database that nobody uses into its file. Raises CopyFailed."""
    try:
        with contextlib.closing(open_existing(file)) as db:
            db.execute("PRAGMA journal_mode=DELETE")
    except sqlite3.Error as error:
        raise CopyFailed(f"The database in {file} is damaged: {error}.") from error


def check_sqlite(file: Path) -> None:
    """Read every page. Raises CopyFailed when the file is damaged."""
    try:
        with contextlib.closing(open_existing(file)) as db:
            (found,) = db.execute("PRAGMA quick_check(1)").fetchone()
    except sqlite3.Error as error:
        found = str(error)
    if found != "ok":
        raise CopyFailed(f"The database in {file} is damaged: {found}.")


@contextmanager
def exclusive_sqlite(file: Path) -> Iterator[None]:
    """Hold a database that is about to be replaced, with all its content in the one file.

    Raises DatabaseInUse while another program has it open, and CopyFailed for a damaged one.
    """
    with contextlib.closing(open_existing(file, LOCK_SECONDS)) as db:
        try:
            # Every connection of a server keeps a shared lock for as long as it is open.
            db.execute("PRAGMA locking_mode=EXCLUSIVE")
            db.execute("PRAGMA journal_mode=DELETE")
            db.execute("BEGIN EXCLUSIVE")
        except sqlite3.OperationalError as error:
            if (error.sqlite_errorcode & 0xFF) in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
                raise DatabaseInUse from error
            raise CopyFailed(f"{file} cannot be read: {error}.") from error
        except sqlite3.DatabaseError as error:
            raise CopyFailed(f"{file} cannot be read: {error}.") from error
        yield


def replace_file(new: Path, file: Path, *, kept_as: Path | None) -> None:
    """Put a database in the place of another, which is kept under another name or deleted.

    There is no moment without a database.
    """
    if kept_as is not None and file.exists():
        kept_as.hardlink_to(file)
    new.replace(file)
    files.sync_folder(file.parent)


def dump_postgresql(url: str, target: Path) -> None:
    """Dump a PostgreSQL database in one snapshot into a file that exists. Raises CopyFailed."""
    _run_tool("pg_dump", url, "--format=custom", "--no-owner", "--no-privileges", f"--file={target}")


def check_dump(file: Path) -> None:
    """Read a dump to its end. Raises CopyFailed when it is damaged."""
    _run_tool("pg_restore", None, f"--file={os.devnull}", str(file))


def load_dump(url: str, file: Path) -> None:
    """Load a dump into an empty PostgreSQL database, all or nothing. Raises CopyFailed.

    Without the indexes of names and their extension, which this server may not have, or its role may not
    add: the next migration makes them where it can.
    """
    lines = _run_tool("pg_restore", None, "--list", str(file)).splitlines()
    wanted = "\n".join(line for line in lines if not OF_NAME_INDEXES.search(line))
    flags = ("--no-owner", "--no-privileges", "--exit-on-error", "--single-transaction")
    with tempfile.NamedTemporaryFile("w", prefix="silverball-", suffix=".list") as list_file:
        list_file.write(wanted)
        list_file.flush()
        _run_tool("pg_restore", url, *flags, f"--use-list={list_file.name}", str(file))


def require_unused_postgresql(url: str, *, must_be_empty: bool) -> None:
    """Raise DatabaseInUse while others are connected, and CopyFailed where it is not empty as it must be."""
    import psycopg

    try:
        with psycopg.connect(_plain_url(url)) as db:
            others = _count(db, _ONLY_CLIENTS)
            tables = _count(db, _TABLES)
    except psycopg.Error as error:
        raise CopyFailed(f"The database cannot be reached: {str(error).splitlines()[0]}.") from error
    if others:
        raise DatabaseInUse
    if must_be_empty and tables:
        raise CopyFailed(
            "The database has tables already. Make an empty one (`createdb`), name it in"
            " SILVERBALL_DATABASE_URL, and the present one stays as it is."
        )


def _count(db: Any, query: str) -> int:
    (count,) = db.execute(query).fetchone() or (0,)
    return int(count)


def _plain_url(url: str) -> str:
    return make_url(url).set(drivername="postgresql").render_as_string(hide_password=False)


def _run_tool(program: str, url: str | None, *words: str) -> str:
    """Run a program of PostgreSQL and return what it prints. Raises CopyFailed."""
    path = shutil.which(program)
    if path is None:
        raise CopyFailed(
            f"{program} is not installed here. It comes with PostgreSQL's programs for clients"
            " (Debian: postgresql-client); its version must be the server's or newer."
        )
    command, environment = [path, *words], dict(os.environ)
    if url is not None:
        address = make_url(url).set(drivername="postgresql")
        # A password among the words would be seen by everybody on this machine.
        environment |= {} if address.password is None else {"PGPASSWORD": str(address.password)}
        command.append(f"--dbname={address.set(password=None).render_as_string(hide_password=False)}")
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)  # noqa: S603  # no word is from outside
    if done.returncode:
        complaint = (done.stderr.strip() or "no reason given").splitlines()[0]
        raise CopyFailed(f"{program} failed: {complaint}.")
    return done.stdout


def open_existing(file: Path, seconds: float = 30, *, options: str = "mode=rw") -> sqlite3.Connection:
    """A connection to an SQLite database that exists, for statements that begin no transaction."""
    # Without a mode, SQLite would make a missing file.
    address = f"file:{quote(str(file.absolute()))}?{options}"
    return sqlite3.connect(address, uri=True, timeout=seconds, isolation_level=None, check_same_thread=False)


# The file of an SQLite database, watched while it is open.
#
# A process goes on writing into a file that was deleted or replaced under it, and all of that is lost when
# it ends. So the file must be the one that was opened.


LOG = logging.getLogger("silverball.store")


class DatabaseFileGone(DatabaseUnavailable):
    """The file at the database's path is another one than the process has open, or none."""

    sentence = "The file of the database was removed or replaced while it was in use. Nothing was changed."


class WatchedFile:
    """One file, by its device and number."""

    def __init__(self, path: Path | None) -> None:
        # As text, which a path would be turned into for each look.
        self._path = None if path is None else str(path)
        self._opened = self._current()
        self._is_reported = False

    def is_same(self) -> bool:
        """Whether the file is the one that was opened; a change is logged once."""
        is_same = self._current() == self._opened
        if is_same == self._is_reported:
            self._is_reported = not is_same
            if is_same:
                LOG.warning("the file of the database is back at %s", self._path)
            else:
                LOG.error(
                    "the file of the database was removed or replaced at %s: nothing is written any more;"
                    " put it back, or restart",
                    self._path,
                )
        return is_same

    def require_same(self) -> None:
        """Raise DatabaseFileGone when it is another file, or none."""
        if not self.is_same():
            raise DatabaseFileGone

    def _current(self) -> tuple[int, int] | None:
        if self._path is None:
            return None
        try:
            status = os.stat(self._path)
        except OSError:
            return None
        return status.st_dev, status.st_ino
