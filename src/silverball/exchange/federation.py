"""The federation's records as a file: a list in JSON, or a table in CSV.

Both have the names of the published shape. Numbers may be texts, as the federation's own interface
writes them; an empty text is null. A file is read whole before anything of it is stored.
"""

import csv
import io
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec

from silverball.kit.errors import Invalid
from silverball.kit.http.body import BodyParser
from silverball.service.federation import writes
from silverball.service.federation.reads import records as reads
from silverball.service.federation.writes import NewRecord
from silverball.store.engine import Db
from silverball.wire import times

BYTES_MAX = 200 * 2**20
RECORDS_MAX = 500_000
# So many faults are told at once.
FAULTS_MAX = 10
STORED_AT_ONCE = 1000
# A spreadsheet's first row is the header, and it counts from 1.
FIRST_ROW = 2
REQUIRED = ("ifpaId", "name")
INTEGER_TEXT = re.compile(r"[0-9]{1,19}", re.ASCII)
DECIMAL_TEXT = re.compile(r"[0-9]{1,9}(\.[0-9]{1,15})?", re.ASCII)
WHOLE_NUMBERS = ("ifpaId", "rank", "womensRank", "ratingRank", "totalEvents")
RATING, UPDATED_AT = "rating", "updatedAt"
COLUMNS = tuple(field.encode_name for field in msgspec.structs.fields(NewRecord))
# Hands the items on and tells somebody how far it is.
ProgressWatch = Callable[[Sequence[Any], str], Iterable[Any]]


class BrokenRecordsFile(Invalid):
    """A file that is refused; each sentence says where and why."""

    def __init__(self, sentences: Sequence[str]) -> None:
        super().__init__({"file": list(sentences)})


@dataclass(frozen=True)
class ImportedRecords:
    """What became of a file."""

    records: int
    new: int


@dataclass(frozen=True)
class _FileRecord:
    """A record as it stands in the file, and how its place is called."""

    place: str
    values: Mapping[str, Any]


def without_progress(items: Sequence[Any], _what: str) -> Iterable[Any]:
    """The items; nobody looks."""
    return items


def read(path: Path, watch: ProgressWatch = without_progress) -> list[NewRecord]:
    """The records of a file, by federation number. Raises BrokenFile with the faults, or OSError."""
    size = path.stat().st_size
    if size > BYTES_MAX:
        raise BrokenRecordsFile([f"The file has {size} bytes; it may have {BYTES_MAX}."])
    return parse(path.read_bytes(), watch)


def parse(content: bytes, watch: ProgressWatch = without_progress) -> list[NewRecord]:
    """The records of a file's content, by federation number. Raises BrokenFile."""
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
    before = reads.record_count(db)
    for start in watch(range(0, len(records), STORED_AT_ONCE), "Storing"):
        writes.store_records(db, records[start : start + STORED_AT_ONCE], now=now)
    return ImportedRecords(len(records), reads.record_count(db) - before)


def _read_json(text: str) -> list[_FileRecord]:
    try:
        listed = msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError) as error:
        raise BrokenRecordsFile([f"The file is not JSON ({error})."]) from error
    if not isinstance(listed, list):
        raise BrokenRecordsFile(["The file must be a list of records."])
    for at, one in enumerate(listed, start=1):
        if not isinstance(one, dict):
            raise BrokenRecordsFile([f"record {at}: The record must be an object."])
    return [_FileRecord(f"record {at}", one) for at, one in enumerate(listed, start=1)]


def _read_csv(text: str) -> list[_FileRecord]:
    rows = csv.reader(io.StringIO(text, newline=""), strict=True)
    header = [name.strip() for name in next(_csv_rows(rows), [])]
    _check_header(header)
    listed = []
    for at, row in enumerate(_csv_rows(rows), start=FIRST_ROW):
        # An empty line at the end is nothing.
        if not any(row):
            continue
        if len(row) != len(header):
            raise BrokenRecordsFile(
                [f"row {at}: The row has {len(row)} cells, the header has {len(header)}."]
            )
        listed.append(_FileRecord(f"row {at}", dict(zip(header, row, strict=True))))
    return listed


def _csv_rows(rows: Iterator[list[str]]) -> Iterator[list[str]]:
    """The rows, not many more than there may be; a fault of the format is a sentence."""
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
    for found in watch(listed, "Reading"):
        try:
            record: NewRecord = parser.parse_values(_convert_texts(found.values))
        except Invalid as refusal:
            faults += [_fault_sentence(found.place, *fault) for fault in refusal.errors.items()]
        else:
            first = places.setdefault(record.ifpa_id, found.place)
            if first is not found.place:
                faults.append(f"{found.place}, ifpaId: {record.ifpa_id} is in {first} already.")
            records.append(record)
        if len(faults) >= FAULTS_MAX:
            break
    if faults:
        raise BrokenRecordsFile(faults[:FAULTS_MAX])
    # Two imports at once lock their rows in the same order.
    return sorted(records, key=lambda one: one.ifpa_id)


def _fault_sentence(place: str, field: str, sentences: Sequence[str]) -> str:
    return f"{place}, {field}: {sentences[0]}"


def _convert_texts(values: Mapping[str, Any]) -> dict[str, Any]:
    """The values with numbers and moments where texts say them; what cannot be one is left for the parser."""
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
            return times.parse_moment(text)
        except (ValueError, OverflowError):
            return text
    return text
