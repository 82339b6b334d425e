"""The bulk tables as files: one part for each month, and one for what has no month.

All files of a part are read from one snapshot, so that their ids join. A part is complete in itself: a
run that is stopped goes on with the next part. What a part holds is noted in a record, which is not
published; the manifest of all files is put together from the records.
"""

import csv
import hashlib
import os
import re
import secrets
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec

from silverball.exchange import atomic_files
from silverball.exchange.bulk import parquet
from silverball.kit.conversions import decode
from silverball.service.bulk.reads import games, people, sheets, tournaments
from silverball.service.bulk.reads.sheets import ALWAYS, BulkTable, Period, Row
from silverball.store import hidings
from silverball.store.engine import Store
from silverball_wire import times

MONTHLY = (
    tournaments.TOURNAMENTS,
    people.PLAYERS,
    games.GAMES,
    games.RESULTS,
    games.SINGLE_PLAYER_GAMES,
    tournaments.STANDINGS,
)
WHOLE = (games.ARENAS, people.RATINGS)
# The part that has no month.
ALL = "all"
MANIFEST = "tables.manifest.json"
CSV, PARQUET = "csv", "parquet"
NO_PARQUET = "There are no Parquet files, because pyarrow is not installed: pip install 'silverball[bulk]'."
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
    record = PartRecord(files=files, hidings=hiding_count, people=digest, written_at=times.iso(now))
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
    return [*tournaments.published_months(db, now), ALL]


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
    with atomic_files.replace_atomically(path) as stream:
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
    return (ALWAYS, WHOLE) if part == ALL else (sheets.month_period(part), MONTHLY)


def _people_digest(db: Any, part: str, period: Period) -> str:
    return "" if part == ALL else people.people_digest(db, period)


def _record_path(folder: Path, part: str) -> Path:
    return folder / f".tables-{part}.json"


def _write_record(folder: Path, part: str, record: PartRecord) -> None:
    with atomic_files.replace_atomically(_record_path(folder, part)) as stream:
        stream.write(msgspec.json.encode(record))


def _write_table(folder: Path, table: BulkTable, part: str, rows: Iterable[Row]) -> Iterator[TableFile]:
    """Write a table in every format, in one pass over its rows, and describe its files."""
    formats = (CSV, PARQUET) if parquet.is_available() else (CSV,)
    names = [f"{table.name}-{part}.{format_}" for format_ in formats]
    parts = [folder / f".{name}.{secrets.token_hex(4)}.part" for name in names]
    try:
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
    finally:
        for path in parts:
            path.unlink(missing_ok=True)


def _write_formats(table: BulkTable, paths: Sequence[Path], rows: Iterator[Row]) -> int:
    """Write the rows as CSV to the first path and as Parquet to the second, and return their number."""
    count = 0
    columnar = parquet.ParquetFile(table, paths[1]) if len(paths) > 1 else None
    try:
        with paths[0].open("x", encoding="utf-8", newline="") as stream:
            lines = csv.writer(stream, lineterminator="\n")
            lines.writerow([column.name for column in table.columns])
            while batch := list(islice(rows, ROWS_AT_ONCE)):
                count += len(batch)
                columns = list(zip(*batch, strict=True))
                lines.writerows(zip(*_csv_columns(table, columns), strict=True))
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
            yield [None if value is None else times.iso(value) for value in values]
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
    atomic_files.move_into_place(new, path)
    return digest


def _file_digest(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
