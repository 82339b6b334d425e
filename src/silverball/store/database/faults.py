"""Errors of the database, for rooms that do not know SQLAlchemy."""

import sqlite3
from datetime import UTC, datetime

from sqlalchemy import Connection, exc, func, select
from sqlalchemy.exc import DBAPIError, OperationalError, SQLAlchemyError

from silverball.kit.errors import ServiceUnavailable
from silverball.kit.threads import is_refused_thread
from silverball.store.tables import journal

DatabaseFault = SQLAlchemyError
# The database is locked, full or out of reach: the same request can succeed later.
SQLITE_TRANSIENT = frozenset(
    {
        sqlite3.SQLITE_BUSY,
        sqlite3.SQLITE_LOCKED,
        sqlite3.SQLITE_FULL,
        sqlite3.SQLITE_IOERR,
        # Also when a read fails with EIO: SQLite does not tell that from a damaged page.
        sqlite3.SQLITE_CORRUPT,
        # A backup may be put in its place.
        sqlite3.SQLITE_NOTADB,
        sqlite3.SQLITE_CANTOPEN,
        sqlite3.SQLITE_READONLY,
        sqlite3.SQLITE_NOMEM,
        # At the deadline of a transaction, which others may share.
        sqlite3.SQLITE_INTERRUPT,
    }
)
# The file is damaged, or none of SQLite's.
SQLITE_DAMAGE = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})
PRIMARY_CODE = 0xFF
# PostgreSQL ended the transaction: it paused or lasted too long. The driver takes these for its own faults.
POSTGRESQL_TIMEOUTS = frozenset({"25P03", "25P04"})
# Of a lock, and of a statement.
POSTGRESQL_WAITS = frozenset({"55P03", "57014"})


class DatabaseUnavailable(ServiceUnavailable, SQLAlchemyError):  # type: ignore[misc]  # both have a code
    """The database cannot be used now: a refusal for callers, an error of the database for the program."""

    def __str__(self) -> str:
        return self.message


def short_message(error: SQLAlchemyError) -> str:
    """The database's own message in one line, without the statement and its values."""
    origin = error.orig if isinstance(error, DBAPIError) and error.orig is not None else error
    return (str(origin).strip() or type(origin).__name__).splitlines()[0]


def is_lock_timeout(error: SQLAlchemyError) -> bool:
    """Whether PostgreSQL gave up waiting for a lock, or ended a statement at its limit."""
    return isinstance(error, DBAPIError) and getattr(error.orig, "sqlstate", None) in POSTGRESQL_WAITS


def is_locked(error: OperationalError) -> bool:
    """Whether another connection has the lock of an SQLite database."""
    return _sqlite_code(error.orig) == sqlite3.SQLITE_BUSY


def is_damage(error: BaseException) -> bool:
    """Whether SQLite says that its file is damaged."""
    origin = error.orig if isinstance(error, DBAPIError) else error
    return _sqlite_code(origin) in SQLITE_DAMAGE


def is_transient(error: Exception) -> bool:
    """Whether only the database is busy, full or out of reach, or no thread is left: a retry can succeed."""
    if is_refused_thread(error):
        return True
    # No connection became free in time.
    if isinstance(error, exc.TimeoutError | DatabaseUnavailable):
        return True
    if isinstance(error, DBAPIError):
        return error.connection_invalidated or (
            error.orig is not None and _is_transient_in_driver(error.orig, error)
        )
    return _is_transient_in_driver(error, error)


def _is_transient_in_driver(error: BaseException, wrapped: BaseException) -> bool:
    """The same for the driver's own error, which statements past SQLAlchemy raise."""
    if isinstance(error, sqlite3.Error):
        # SQLite reports a missing table with the same class as a locked file.
        return _sqlite_code(error) in SQLITE_TRANSIENT
    is_operational = isinstance(wrapped, OperationalError) or _is_operational_in_driver(error)
    return is_operational or getattr(error, "sqlstate", None) in POSTGRESQL_TIMEOUTS


def _sqlite_code(error: BaseException | None) -> int:
    """SQLite's code of the error without its details; 0 for any other error."""
    code: int = getattr(error, "sqlite_errorcode", 0)
    return code & PRIMARY_CODE


def _is_operational_in_driver(error: BaseException) -> bool:
    # The driver of PostgreSQL is loaded only where it is used.
    return any(
        kind.__name__ == "OperationalError" and kind.__module__ == "psycopg" for kind in type(error).__mro__
    )


# Facts about a database for whoever looks after it; nothing is changed.


def database_clock(db: Connection) -> datetime | None:
    """The present by the clock of a database server; None for SQLite, which has that of this machine."""
    if db.dialect.name == "sqlite":
        return None
    moment: datetime = db.execute(select(func.clock_timestamp())).scalar_one()
    return moment.astimezone(UTC)


def newest_action_at(db: Connection) -> datetime | None:
    """The moment of the newest line of the journal; None before the first."""
    newest = select(journal.c.at).order_by(journal.c.journal_id.desc()).limit(1)
    return db.execute(newest).scalar_one_or_none()
