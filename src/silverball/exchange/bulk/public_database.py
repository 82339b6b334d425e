"""The bulk tables as an SQLite database, for Datasette, DuckDB and notebooks.

It is made from the tables of the bulk files alone, so it can hold nothing else.
"""

import os
import secrets
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from itertools import islice
from pathlib import Path
from typing import Any

from silverball.exchange import atomic_files
from silverball.exchange.bulk import parts
from silverball.service.bulk.reads.sheets import ALWAYS, BulkTable, Row
from silverball.store.engine import Store
from silverball_wire import times

TABLES = (*parts.MONTHLY, *parts.WHOLE)
# In the header of each of these databases, so that no other one is ever replaced.
APPLICATION_ID = 0x53425044
APPLICATION_ID_BYTES = slice(68, 72)
ROWS_AT_ONCE = 10_000
TYPES = {
    "integer": "INTEGER",
    "number": "REAL",
    "points": "REAL",
    "text": "TEXT",
    "flag": "INTEGER",
    "moment": "TEXT",
}


class ForeignFile(OSError):
    """There is a file that this program did not export, and that must not be replaced."""

    def __init__(self) -> None:
        super().__init__("another file is there, which is no exported database")


def write_database(store: Store, path: Path) -> dict[str, int]:
    """Write the database, in the place of an older one, and return the rows of each table.

    Raises OSError.
    """
    _refuse_foreign_file(path)
    part = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
    try:
        with closing(_open(part)) as target, part.open("rb") as written, store.read() as db:
            disk = written.fileno()
            counts = {
                table.name: _copy_table(target, table, table.rows(db, ALWAYS), disk) for table in TABLES
            }
            _add_indexes(target, disk)
            target.commit()
        atomic_files.move_into_place(part, path)
    except sqlite3.Error as error:
        raise OSError(str(error)) from error
    finally:
        part.unlink(missing_ok=True)
    return counts


def _refuse_foreign_file(path: Path) -> None:
    try:
        with path.open("rb") as stream:
            header = stream.read(APPLICATION_ID_BYTES.stop)
    except FileNotFoundError:
        return
    if header and int.from_bytes(header[APPLICATION_ID_BYTES], "big") != APPLICATION_ID:
        raise ForeignFile


def _open(path: Path) -> sqlite3.Connection:
    # The file is thrown away unless it is complete, so nothing has to survive a power cut before.
    target = sqlite3.connect(path)
    target.execute("PRAGMA journal_mode=OFF")
    target.execute(f"PRAGMA application_id={APPLICATION_ID}")
    target.execute("PRAGMA synchronous=OFF")
    return target


def _copy_table(target: sqlite3.Connection, table: BulkTable, rows: Iterator[Row], disk: int) -> int:
    columns = [
        f'"{column.name}" {TYPES[column.kind]}'
        + (f' REFERENCES "{column.refers_to}"' if column.refers_to else "")
        for column in table.columns
    ]
    key = ", ".join(f'"{name}"' for name in table.key)
    target.execute(f'CREATE TABLE "{table.name}" ({", ".join(columns)}, PRIMARY KEY ({key}))')
    places = ", ".join("?" * len(table.columns))
    count = 0
    while batch := list(islice(rows, ROWS_AT_ONCE)):
        count += len(batch)
        values = [
            _stored_values(table, number, column) for number, column in enumerate(zip(*batch, strict=True))
        ]
        target.executemany(f'INSERT INTO "{table.name}" VALUES ({places})', zip(*values, strict=True))  # noqa: S608  # our own names
        # On the disk now: a commit of the site would wait for all that is not there yet.
        os.fsync(disk)
    return count


def _stored_values(table: BulkTable, number: int, values: Sequence[Any]) -> Sequence[Any]:
    kind = table.columns[number].kind
    if kind == "points":
        return [None if value is None else value / 100 for value in values]
    if kind == "moment":
        return [None if value is None else times.iso(value) for value in values]
    return values


def _add_indexes(target: sqlite3.Connection, disk: int) -> None:
    """Index each reference that does not begin its table's key."""
    for table in TABLES:
        for column in table.columns:
            if column.refers_to and column.name != table.key[0]:
                name = f"ix_{table.name}_{column.name}"
                target.execute(f'CREATE INDEX "{name}" ON "{table.name}" ("{column.name}")')
                os.fsync(disk)
