"""Errors of SQLite that are a 503, after which the same request can succeed. Source: sqlite.org/rescode."""

import sqlite3

import pytest

from silverball.store.database import faults


def an_error(code: int) -> sqlite3.Error:
    error = sqlite3.DatabaseError("as SQLite words it")
    error.sqlite_errorcode = code
    return error


@pytest.mark.parametrize(
    ("code", "is_transient"),
    [
        (sqlite3.SQLITE_BUSY, True),
        (sqlite3.SQLITE_FULL, True),
        (sqlite3.SQLITE_IOERR_WRITE, True),
        (sqlite3.SQLITE_IOERR_FSYNC, True),
        # Read errors of the disk arrive as a damaged page.
        (sqlite3.SQLITE_CORRUPT, True),
        (sqlite3.SQLITE_ERROR, False),
        (sqlite3.SQLITE_CONSTRAINT_UNIQUE, False),
        (sqlite3.SQLITE_MISMATCH, False),
    ],
)
def test_what_the_disk_does_is_transient_and_what_we_did_is_not(code: int, is_transient: bool) -> None:
    assert faults.is_transient(an_error(code)) == is_transient
