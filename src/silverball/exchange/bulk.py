"""The bulk tables as files: one part for each month, and one for what has no month.

All files of a part are read from one snapshot, so that their ids join. A part is complete in itself: a
run that is stopped goes on with the next part. What a part holds is noted in a record, which is not
published; the manifest of all files is put together from the records.
"""

import hashlib
import logging
import os
import re
import sqlite3
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, closing, suppress
from datetime import datetime
from importlib.util import find_spec
from itertools import islice
from math import ceil
from pathlib import Path
from time import monotonic
from typing import Any

import msgspec

from silverball.exchange import files as exchange_files
from silverball.exchange.files import FileDigests
from silverball.kit.values import decode
from silverball.service.tables import sheet
from silverball.service.tables.reads import bulk
from silverball.service.tables.reads.bulk import ALWAYS, BulkTable, Period, Row
from silverball.store.database.deadlines import JOBS
from silverball.store.database.engine import Store
from silverball.store.people import hidings
from silverball_wire import base

# Parquet files, where pyarrow is installed: the extra `bulk`.


MODULE = "pyarrow"
# Zstandard is in every build of pyarrow, DuckDB and pandas.
COMPRESSION = "zstd"


def is_available() -> bool:
    """Whether pyarrow is installed. It is imported when a file is written."""
    return find_spec(MODULE) is not None


class ParquetFile:
    """A Parquet file of a table that is written batch by batch."""

    def __init__(self, table: BulkTable, path: Path) -> None:
        import pyarrow as pa
        from pyarrow import parquet

        types: dict[str, Callable[[], Any]] = {
            "integer": pa.int64,
            "number": pa.float64,
            "points": pa.float64,
            "text": pa.string,
            "flag": pa.bool_,
            "moment": lambda: pa.timestamp("us", tz="UTC"),
        }
        self._make_batch = pa.RecordBatch.from_arrays
        self._make_array = pa.array
        self._schema = pa.schema([(column.name, types[column.kind]()) for column in table.columns])
        self._writer = parquet.ParquetWriter(path, self._schema, compression=COMPRESSION)

    def write(self, columns: Sequence[Sequence[Any]]) -> None:
        """Add rows, given column by column."""
        arrays = [
            self._make_array(values, field.type) for values, field in zip(columns, self._schema, strict=True)
        ]
        self._writer.write_batch(self._make_batch(arrays, schema=self._schema))

    def close(self) -> None:
        """Write the end of the file."""
        self._writer.close()


MONTHLY = (
    bulk.TOURNAMENTS,
    bulk.PLAYERS,
    bulk.GAMES,
    bulk.RESULTS,
    bulk.SINGLE_PLAYER_GAMES,
    bulk.STANDINGS,
)
WHOLE = (bulk.ARENAS, bulk.RATINGS)
# The part that has no month.
ALL = "all"
MANIFEST = "tables.manifest.json"
CSV, PARQUET = "csv", "parquet"
NO_PARQUET = (
    "There are no Parquet files, because pyarrow is not installed: python -m pip install --require-hashes -r"
    " requirements/bulk.txt"
)
ROWS_AT_ONCE = 10_000
_NAMES = "|".join(table.name for table in (*MONTHLY, *WHOLE))
FILE_NAME = re.compile(rf"(?:{_NAMES})-(?P<part>\d{{4}}-\d{{2}}|{ALL})\.(?:{CSV}|{PARQUET})", re.ASCII)
_RECORD_NAME = re.compile(rf"\.tables-(?P<part>\d{{4}}-\d{{2}}|{ALL})\.json", re.ASCII)


class TableFile(msgspec.Struct, rename="camel", frozen=True, kw_only=True):
    """A file of a bulk table, as the manifest describes it."""

    file: str
    table: str
    # Null for tables without a month.
    month: str | None
    format: str
    rows: int
    bytes: int
    sha256: str


class PartRecord(msgspec.Struct, frozen=True, kw_only=True):
    """The files of a part, and the state that they were written in."""

    files: tuple[TableFile, ...]
    hidings: int
    # Of the people of a month; empty for the part without a month.
    people: str
    written_at: str


def write_part(store: Store, part: str, folder: Path, now: datetime) -> PartRecord:
    """Write the files of a part that have changed, and its record. Raises OSError."""
    folder.mkdir(parents=True, exist_ok=True)
    period, of_part = _period_and_tables(part)
    before = read_record(folder, part)
    with store.read() as db:
        hiding_count = hidings.hiding_count(db)
        digest = _people_digest(db, part, period)
        files = tuple(
            file for table in of_part for file in _write_table(folder, table, part, table.rows(db, period))
        )
    record = PartRecord(files=files, hidings=hiding_count, people=digest, written_at=base.iso(now))
    _write_record(folder, part, record)
    names = {file.file for file in files}
    for outdated in () if before is None else before.files:
        if outdated.file not in names:
            (folder / outdated.file).unlink(missing_ok=True)
    return record


def confirm_part(store: Store, part: str, folder: Path) -> bool:
    """Note that a month's files may be shown as they are, if nobody in them has hidden anything since."""
    record = read_record(folder, part)
    if record is None or not record.people:
        return False
    period, _ = _period_and_tables(part)
    with store.read() as db:
        hiding_count = hidings.hiding_count(db)
        if _people_digest(db, part, period) != record.people:
            return False
    _write_record(folder, part, msgspec.structs.replace(record, hidings=hiding_count))
    return True


def read_record(folder: Path, part: str) -> PartRecord | None:
    """The record of a part; None without one that can be read."""
    try:
        return decode(_record_path(folder, part).read_bytes(), PartRecord)
    except (OSError, msgspec.DecodeError):
        return None


def written_parts(folder: Path) -> list[str]:
    """The parts that have a record, oldest month first."""
    with suppress(FileNotFoundError):
        found = (_RECORD_NAME.fullmatch(path.name) for path in folder.iterdir())
        return sorted(match["part"] for match in found if match is not None)
    return []


def parts_to_write(db: Any, now: datetime) -> list[str]:
    """The parts that there are: every month with a published tournament, and the part without a month."""
    return [*bulk.published_months(db, now), ALL]


def remove_part(folder: Path, part: str) -> None:
    """Remove a month that has no published tournament any more."""
    record = read_record(folder, part)
    for file in () if record is None else record.files:
        (folder / file.file).unlink(missing_ok=True)
    _record_path(folder, part).unlink(missing_ok=True)


def write_manifest(folder: Path) -> None:
    """Write the manifest of the files that the records name, unless it is there already."""
    records = [record for part in written_parts(folder) if (record := read_record(folder, part))]
    files = [file for record in records for file in record.files]
    formats = sorted({file.format for file in files})
    content = msgspec.json.encode(
        {
            "generatedAt": max((record.written_at for record in records), default=None),
            "formats": formats,
            "notes": [] if PARQUET in formats else [NO_PARQUET],
            "tables": {table.name: _columns(table) for table in (*MONTHLY, *WHOLE)},
            "files": files,
        }
    )
    path = folder / MANIFEST
    with suppress(OSError):
        if path.read_bytes() == content + b"\n":
            return
    with exchange_files.replace_atomically(path) as stream:
        stream.write(content + b"\n")


def _columns(table: BulkTable) -> list[dict[str, str]]:
    return [
        {
            "name": column.name,
            "type": "number" if column.kind == "points" else column.kind,
            "meaning": column.meaning,
        }
        for column in table.columns
    ]


def _period_and_tables(part: str) -> tuple[Period, Sequence[BulkTable]]:
    return (ALWAYS, WHOLE) if part == ALL else (bulk.month_period(part), MONTHLY)


def _people_digest(db: Any, part: str, period: Period) -> str:
    return "" if part == ALL else bulk.people_digest(db, period)


def _record_path(folder: Path, part: str) -> Path:
    return folder / f".tables-{part}.json"


def _write_record(folder: Path, part: str, record: PartRecord) -> None:
    with exchange_files.replace_atomically(_record_path(folder, part)) as stream:
        stream.write(msgspec.json.encode(record))


def _write_table(folder: Path, table: BulkTable, part: str, rows: Iterable[Row]) -> Iterator[TableFile]:
    """Write a table in every format, in one pass over its rows, and describe its files."""
    formats = (CSV, PARQUET) if is_available() else (CSV,)
    names = [f"{table.name}-{part}.{format_}" for format_ in formats]
    with ExitStack() as stack:
        parts = [stack.enter_context(exchange_files.new_part(folder / name)) for name in names]
        count = _write_formats(table, parts, iter(rows))
        for name, format_, path in zip(names, formats, parts, strict=True):
            yield TableFile(
                file=name,
                table=table.name,
                month=None if part == ALL else part,
                format=format_,
                rows=count,
                bytes=path.stat().st_size,
                sha256=_replace_changed(path, folder / name),
            )


def _write_formats(table: BulkTable, paths: Sequence[Path], rows: Iterator[Row]) -> int:
    """Write the rows as CSV to the first path and as Parquet to the second, and return their number."""
    count = 0
    columnar = ParquetFile(table, paths[1]) if len(paths) > 1 else None
    try:
        with paths[0].open("w", encoding="utf-8", newline="") as stream:
            stream.write(sheet.raw_line(column.name for column in table.columns))
            while batch := list(islice(rows, ROWS_AT_ONCE)):
                count += len(batch)
                columns = list(zip(*batch, strict=True))
                stream.writelines(map(sheet.raw_line, zip(*_csv_columns(table, columns), strict=True)))
                if columnar is not None:
                    columnar.write(_number_columns(table, columns))
            stream.flush()
            os.fsync(stream.fileno())
    finally:
        if columnar is not None:
            columnar.close()
    return count


def _csv_columns(table: BulkTable, columns: Sequence[Sequence[Any]]) -> Iterator[Sequence[Any]]:
    for column, values in zip(table.columns, columns, strict=True):
        if column.kind == "points":
            yield [None if value is None else f"{value / 100:.2f}" for value in values]
        elif column.kind == "number":
            yield [None if value is None else f"{value:.2f}" for value in values]
        elif column.kind == "moment":
            yield [None if value is None else base.iso(value) for value in values]
        elif column.kind == "flag":
            yield ["true" if value else "false" for value in values]
        else:
            yield values


def _number_columns(table: BulkTable, columns: Sequence[Sequence[Any]]) -> list[Sequence[Any]]:
    return [
        [None if value is None else value / 100 for value in values] if column.kind == "points" else values
        for column, values in zip(table.columns, columns, strict=True)
    ]


def _replace_changed(new: Path, path: Path) -> str:
    """Move the new file to its place, and return its digest; an equal one stays, with its ETag."""
    digest = _file_digest(new)
    with suppress(OSError):
        if _file_digest(path) == digest:
            return digest
    exchange_files.move_into_place(new, path)
    return digest


def _file_digest(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


# The bulk tables as an SQLite database, for Datasette, DuckDB and notebooks.
#
# It is made from the tables of the bulk files alone, so it can hold nothing else.


TABLES = (*MONTHLY, *WHOLE)
# In the header of each of these databases, so that no other one is ever replaced.
APPLICATION_ID = 0x53425044
APPLICATION_ID_BYTES = slice(68, 72)

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
    with exchange_files.new_part(path) as part:
        try:
            with closing(_open(part)) as target, part.open("rb") as written, store.read() as db:
                disk = written.fileno()
                counts = {
                    table.name: _copy_table(target, table, table.rows(db, ALWAYS), disk) for table in TABLES
                }
                _add_indexes(target, disk)
                target.commit()
        except sqlite3.Error as error:
            raise OSError(str(error)) from error
        exchange_files.move_into_place(part, path)
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
        return [None if value is None else base.iso(value) for value in values]
    return values


def _add_indexes(target: sqlite3.Connection, disk: int) -> None:
    """Index each reference that does not begin its table's key."""
    for table in TABLES:
        for column in table.columns:
            if column.refers_to and column.name != table.key[0]:
                name = f"ix_{table.name}_{column.name}"
                target.execute(f'CREATE INDEX "{name}" ON "{table.name}" ("{column.name}")')
                os.fsync(disk)


# The bulk tables as they may be served: a month whose people hid something is written anew before.


LOG = logging.getLogger("silverball.exchange")
# Files are written anew for at most a tenth of the time, however often somebody hides something.
PAUSE_FACTOR = 9
# After that the manifest asks for patience, and the next request goes on.
MANIFEST_SECONDS_MAX = 2.0


class CurrentTables:
    """The bulk tables of one folder."""

    def __init__(
        self,
        store: Store,
        folder: Path,
        now: Callable[[], datetime],
        clock: Callable[[], float] = monotonic,
    ) -> None:
        # A month is read in well under a second, the ratings of everybody in a few.
        self._store = store.with_limits(JOBS)
        self._folder = folder
        self._now = now
        self._clock = clock
        self._writing = threading.Lock()
        # The earliest time at which files may be written anew.
        self._next_at = float("-inf")
        self._digests = FileDigests(folder)
        # The number of hidings and the state of the folder in which all files were found current.
        self._all_current: tuple[int, int] | None = None

    def is_public(self, name: str) -> bool:
        """Whether a file of this name is a bulk table, or their manifest, and was written."""
        if name == MANIFEST:
            return (self._folder / name).exists()
        match = FILE_NAME.fullmatch(name)
        record = None if match is None else read_record(self._folder, match["part"])
        return record is not None and any(file.file == name for file in record.files)

    def seconds_to_wait(self, name: str) -> int:
        """0 when the file of this name may be shown now, after writing it anew if need be."""
        match = FILE_NAME.fullmatch(name)
        count = self._hiding_count()
        state = count, self._folder.stat().st_mtime_ns
        # Anybody may ask for the manifest as often as they like, and it stands for every file.
        if match is None and state == self._all_current:
            return 0
        needed = written_parts(self._folder) if match is None else [match["part"]]
        outdated = [part for part in needed if not self._is_current(part, count)]
        if not outdated and match is not None:
            return 0
        if not self._writing.acquire(blocking=False):
            return 1
        try:
            wait = self._write_anew(outdated, count)
            if wait == 0 and match is None:
                write_manifest(self._folder)
                is_unchanged = self._folder.stat().st_mtime_ns == state[1]
                self._all_current = state if is_unchanged else None
            return wait
        except OSError as error:
            # Whatever is there may name somebody who does not want it, so nothing is shown.
            LOG.error("%s cannot be written anew, so it is not served", name, exc_info=error)
            return 1
        finally:
            self._writing.release()

    def _write_anew(self, outdated: list[str], count: int) -> int:
        """Bring parts up to date; returns the seconds until the next try, 0 when all are."""
        began = self._clock()
        for part in outdated:
            if self._is_current(part, count) or self._is_confirmed(part):
                continue
            moment = self._clock()
            if moment < self._next_at:
                return ceil(self._next_at - moment)
            if moment - began > MANIFEST_SECONDS_MAX:
                return 1
            write_part(self._store, part, self._folder, self._now())
            ended = self._clock()
            self._next_at = ended + PAUSE_FACTOR * (ended - moment)
        return 0

    def _is_confirmed(self, part: str) -> bool:
        """Whether the files of a part may be shown as they are, although somebody has hidden something."""
        record = read_record(self._folder, part)
        if record is None or not self._is_intact(record):
            return False
        return confirm_part(self._store, part, self._folder)

    def _hiding_count(self) -> int:
        with self._store.read() as db:
            return hidings.hiding_count(db)

    def _is_current(self, part: str, hiding_count: int) -> bool:
        record = read_record(self._folder, part)
        return record is not None and record.hidings >= hiding_count and self._is_intact(record)

    def _is_intact(self, record: PartRecord) -> bool:
        """Whether the files are those of the record: another node may have replaced some."""
        try:
            return all(self._digests.sha256(file.file) == file.sha256 for file in record.files)
        except OSError:
            return False
