"""Errors of the database, for rooms that do not know SQLAlchemy."""

import sqlite3

from sqlalchemy import exc
from sqlalchemy.exc import DBAPIError, OperationalError, SQLAlchemyError

DatabaseFault = SQLAlchemyError
# The database is locked, full or out of reach: the same request can succeed later.
SQLITE_TRANSIENT = frozenset(
    {
        sqlite3.SQLITE_BUSY,
        sqlite3.SQLITE_LOCKED,
        sqlite3.SQLITE_FULL,
        sqlite3.SQLITE_IOERR,
        sqlite3.SQLITE_CANTOPEN,
        sqlite3.SQLITE_READONLY,
        sqlite3.SQLITE_NOMEM,
    }
)
PRIMARY_CODE = 0xFF


def short_message(error: SQLAlchemyError) -> str:
    """The database's own message in one line, without the statement and its values."""
    origin = error.orig if isinstance(error, DBAPIError) and error.orig is not None else error
    return (str(origin).strip() or type(origin).__name__).splitlines()[0]


def is_transient(error: Exception) -> bool:
    """Whether the database is only busy, full or out of reach, so that a retry can succeed."""
    # No connection became free in time.
    if isinstance(error, exc.TimeoutError):
        return True
    if not isinstance(error, DBAPIError):
        return False
    if isinstance(error.orig, sqlite3.Error):
        # SQLite reports a missing table with the same class as a locked file.
        return getattr(error.orig, "sqlite_errorcode", 0) & PRIMARY_CODE in SQLITE_TRANSIENT
    return error.connection_invalidated or isinstance(error, OperationalError)
