"""The federation's records as a file: a list in JSON, or a table in CSV.

Both use the names of the published shape. Numbers may be texts, as the federation's own interface
writes them; an empty text is null. A file is read completely before any of it is stored.
"""

import csv
import io
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from silverball.kit.errors import Invalid
from silverball.kit.http.body import BodyParser
from silverball.service.outlook import writes as outlook_writes
from silverball.service.outlook.reads import estimates
from silverball.service.outlook.writes import NewRecord
from silverball.store.database.engine import Db
from silverball_wire import base

BYTES_MAX = 200 * 2**20
RECORDS_MAX = 500_000
# The most faults that are listed at once.
FAULTS_MAX = 10
STORED_AT_ONCE = 1000
# Spreadsheets count rows from 1, and the first is the header.
FIRST_ROW = 2
REQUIRED = ("ifpaId", "name")
INTEGER_TEXT = re.compile(r"[0-9]{1,19}", re.ASCII)
DECIMAL_TEXT = re.compile(r"[0-9]{1,9}(\.[0-9]{1,15})?", re.ASCII)
WHOLE_NUMBERS = ("ifpaId", "rank", "womensRank", "ratingRank", "totalEvents")
RATING, UPDATED_AT = "rating", "updatedAt"
COLUMNS = tuple(field.encode_name for field in msgspec.structs.fields(NewRecord))
# Passes the items on and shows the progress.
ProgressWatch = Callable[[Sequence[Any], str], Iterable[Any]]


class BrokenRecordsFile(Invalid):
    """A refused file; each sentence says where and why."""

    def __init__(self, sentences: Sequence[str]) -> None:
        super().__init__({"file": list(sentences)})


class ImportedRecords(Struct, frozen=True):
    """The counts of an imported file."""

    records: int
    new: int


class _FileRecord(Struct, frozen=True):
    """A record as the file has it, and the name of its place."""

    place: str
    values: Mapping[str, Any]


def without_progress(items: Sequence[Any], _what: str) -> Iterable[Any]:
    """The items, without a progress display."""
    return items


def read(path: Path, watch: ProgressWatch = without_progress) -> list[NewRecord]:
    """The records of a file, by federation number. Raises BrokenRecordsFile or OSError."""
    size = path.stat().st_size
    if size > BYTES_MAX:
        raise BrokenRecordsFile([f"The file has {size} bytes; it may have {BYTES_MAX}."])
    return parse(path.read_bytes(), watch)


def parse(content: bytes, watch: ProgressWatch = without_progress) -> list[NewRecord]:
    """The records of a file's content, by federation number. Raises BrokenRecordsFile."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise BrokenRecordsFile(["The file is not in UTF-8."]) from error
    listed = _read_json(text) if text.lstrip().startswith(("[", "{")) else _read_csv(text)
    if not listed:
        raise BrokenRecordsFile(["The file has no records."])
    if len(listed) > RECORDS_MAX:
        raise BrokenRecordsFile([f"The file may have {RECORDS_MAX} records."])
    return _check_records(listed, watch)


def import_records(
    db: Db, records: Sequence[NewRecord], *, now: datetime, watch: ProgressWatch = without_progress
) -> ImportedRecords:
    """Store the records of a file in the caller's transaction."""
    before = estimates.record_count(db)
    for start in watch(range(0, len(records), STORED_AT_ONCE), "Storing"):
        outlook_writes.store_records(db, records[start : start + STORED_AT_ONCE], now=now)
    return ImportedRecords(len(records), estimates.record_count(db) - before)


def _read_json(text: str) -> list[_FileRecord]:
    try:
        listed = msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError) as error:
        raise BrokenRecordsFile([f"The file is not JSON ({error})."]) from error
    if not isinstance(listed, list):
        raise BrokenRecordsFile(["The file must be a list of records."])
    for at, item in enumerate(listed, start=1):
        if not isinstance(item, dict):
            raise BrokenRecordsFile([f"record {at}: The record must be an object."])
    return [_FileRecord(f"record {at}", item) for at, item in enumerate(listed, start=1)]


def _read_csv(text: str) -> list[_FileRecord]:
    rows = csv.reader(io.StringIO(text, newline=""), strict=True)
    header = [name.strip() for name in next(_csv_rows(rows), [])]
    _check_header(header)
    listed = []
    for at, row in enumerate(_csv_rows(rows), start=FIRST_ROW):
        # Empty lines, as at the end of a file, are skipped.
        if not any(row):
            continue
        if len(row) != len(header):
            raise BrokenRecordsFile(
                [f"row {at}: The row has {len(row)} cells, the header has {len(header)}."]
            )
        listed.append(_FileRecord(f"row {at}", dict(zip(header, row, strict=True))))
    return listed


def _csv_rows(rows: Iterator[list[str]]) -> Iterator[list[str]]:
    """The rows, up to just above the limit. Raises BrokenRecordsFile when the file is not CSV."""
    try:
        yield from islice(rows, RECORDS_MAX + FIRST_ROW)
    except csv.Error as error:
        raise BrokenRecordsFile([f"The file is not CSV with commas and double quotes ({error})."]) from error


def _check_header(header: Sequence[str]) -> None:
    unknown = [name for name in header if name not in COLUMNS]
    missing = [name for name in REQUIRED if name not in header]
    if unknown or missing or len(set(header)) != len(header):
        sentence = f"row 1: The header must have the names {','.join(COLUMNS)}, each once; "
        raise BrokenRecordsFile([sentence + f"{' and '.join(REQUIRED)} must be among them."])


def _check_records(listed: Sequence[_FileRecord], watch: ProgressWatch) -> list[NewRecord]:
    parser = BodyParser(NewRecord)
    places: dict[int, str] = {}
    faults: list[str] = []
    records = []
    for record in watch(listed, "Reading"):
        try:
            new_record: NewRecord = parser.parse_values(_convert_texts(record.values))
        except Invalid as refusal:
            faults += [_fault_sentence(record.place, *fault) for fault in refusal.errors.items()]
        else:
            first = places.setdefault(new_record.ifpa_id, record.place)
            if first is not record.place:
                faults.append(f"{record.place}, ifpaId: {new_record.ifpa_id} is in {first} already.")
            records.append(new_record)
        if len(faults) >= FAULTS_MAX:
            break
    if faults:
        raise BrokenRecordsFile(faults[:FAULTS_MAX])
    # In a fixed order, so that two imports at the same time lock their rows in the same order.
    return sorted(records, key=lambda record: record.ifpa_id)


def _fault_sentence(place: str, field: str, sentences: Sequence[str]) -> str:
    return f"{place}, {field}: {sentences[0]}"


def _convert_texts(values: Mapping[str, Any]) -> dict[str, Any]:
    """The values, with texts turned into numbers and times where possible; the parser checks the rest."""
    return {
        name: _convert_text(name, value) if isinstance(value, str) else value
        for name, value in values.items()
    }


def _convert_text(name: str, text: str) -> Any:
    text = text.strip()
    if name in WHOLE_NUMBERS and INTEGER_TEXT.fullmatch(text):
        return int(text)
    if name == RATING and DECIMAL_TEXT.fullmatch(text):
        return float(text)
    if name == UPDATED_AT and text:
        try:
            return base.parse_moment(text)
        except (ValueError, OverflowError):
            return text
    return text
