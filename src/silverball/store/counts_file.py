"""The file beside an SQLite database for counts that are of no use after a restart of the machine."""

import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Connection, Engine, Table, create_engine, event
from sqlalchemy.exc import DatabaseError, OperationalError

from silverball.kit import private_files

LOG = logging.getLogger("silverball.store")
# Another ending when the tables change: the file outlives an upgrade and is never migrated.
ENDING = "-counts"
FILES_BESIDE = ("-wal", "-shm")
BUSY_SECONDS = 1


def file_beside(url: URL) -> Path | None:
    """Return where the counts of an SQLite database are; None for one in memory."""
    name = url.database or ""
    is_file = name not in {"", ":memory:"} and not name.startswith("file:")
    return Path(f"{name}{ENDING}") if is_file else None


def open_file(file: Path, tables: Sequence[Table]) -> Engine:
    """Open the file, or make a new one in place of one that a power cut has damaged."""
    private_files.create_or_tighten(file)
    try:
        return _open_engine(file, tables)
    except OperationalError:
        raise
    except DatabaseError as error:
        LOG.warning("the file of shared counts is damaged and made anew: %s", error.orig)
        for ending in ("", *FILES_BESIDE):
            Path(f"{file}{ending}").unlink(missing_ok=True)
        private_files.create_or_tighten(file)
        return _open_engine(file, tables)


def _open_engine(file: Path, tables: Sequence[Table]) -> Engine:
    options = {"check_same_thread": False, "timeout": BUSY_SECONDS, "isolation_level": None}
    engine = create_engine(URL.create("sqlite", database=str(file)), pool_size=2, connect_args=options)

    @event.listens_for(engine, "connect")
    def _configure(connection: Any, _record: Any) -> None:
        connection.execute("PRAGMA journal_mode=WAL")
        # Nothing in it is worth waiting for the disk.
        connection.execute("PRAGMA synchronous=OFF")

    @event.listens_for(engine, "begin")
    def _begin(db: Connection) -> None:
        db.exec_driver_sql("BEGIN IMMEDIATE")

    with engine.begin() as db:
        if db.exec_driver_sql("PRAGMA quick_check").scalar_one() != "ok":
            raise DatabaseError("PRAGMA quick_check", None, Exception("quick_check failed"))
        for table in tables:
            table.create(db, checkfirst=True)
    return engine
