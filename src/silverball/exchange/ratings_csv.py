"""The CSV file of all ratings, as this program and others write it. Source: ratings.md E."""

import csv
import io
import re
from collections.abc import Iterator, Sequence
from datetime import date
from pathlib import Path

from msgspec import Struct

from silverball.kit import values
from silverball.kit.errors import Invalid
from silverball.kit.http.fields import ID_MAX
from silverball.service.periods.writes import ImportedRating

BYTES_MAX = 500_000_000
HEADER = re.compile(
    r"Name,User ID,IFPA ID,Rating,RD,Lower Bound,"
    r"Last Rating Period \(Data from: (\d{4}-\d{2}-\d{2})\),Rating class"
)
CELLS = 8
NAME_MAX = 200
RATING_MAX = 10_000
RD_MAX = 1_000
NUMBER = re.compile(r"\d{1,6}(\.\d{1,12})?", re.ASCII)
ID = re.compile(r"\d{1,19}", re.ASCII)
CLASS = re.compile(r"[0-7]?", re.ASCII)
FAULTS_MAX = 20


class RatingsFile(Struct, frozen=True):
    """All ratings of a day."""

    day: date
    seeds: tuple[ImportedRating, ...]


class _FieldFault(Exception):
    """A fault of one field, as a sentence."""


def read(file: Path) -> RatingsFile:
    """Read a file. Raises Invalid with the row and field of every fault, or OSError."""
    if file.stat().st_size > BYTES_MAX:
        raise Invalid({"file": [f"The file must not be greater than {BYTES_MAX} bytes."]})
    return parse(file.read_bytes())


def parse(content: bytes) -> RatingsFile:
    """Parse the bytes of a file. Raises Invalid."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise Invalid({"file": ["The file must be UTF-8 text."]}) from error
    header, _, body = text.partition("\n")
    match = HEADER.fullmatch(header.rstrip("\r"))
    if match is None:
        raise Invalid({"row 1": ["Row 1 is not the header of a ratings file."]})
    try:
        day = _parse_day("Data from", match[1])
    except _FieldFault as fault:
        raise Invalid({"row 1": [f"Row 1: {fault}"]}) from fault
    return RatingsFile(day, _read_seeds(body, day))


def _read_seeds(body: str, day: date) -> tuple[ImportedRating, ...]:
    faults: dict[str, list[str]] = {}
    seeds: list[ImportedRating] = []
    seen: dict[tuple[str, int], int] = {}
    for number, cells in _csv_rows(body):
        try:
            rating = _read_seed(cells, day)
            _refuse_duplicate(rating, number, seen)
            seeds.append(rating)
        except _FieldFault as fault:
            faults[f"row {number}"] = [f"Row {number}: {fault}"]
            if len(faults) >= FAULTS_MAX:
                break
    if faults:
        raise Invalid(faults)
    return tuple(seeds)


def _csv_rows(body: str) -> Iterator[tuple[int, Sequence[str]]]:
    """The rows that are not empty, each with the number of its last line."""
    reader = csv.reader(io.StringIO(body, newline=""), strict=True)
    try:
        for cells in reader:
            if cells:
                yield reader.line_num + 1, cells
    except csv.Error as error:
        line = reader.line_num + 1
        raise Invalid({f"row {line}": [f"Row {line}: its quotes do not fit."]}) from error


def _read_seed(cells: Sequence[str], day: date) -> ImportedRating:
    if len(cells) != CELLS:
        raise _FieldFault(f"it has {len(cells)} fields, not {CELLS}.")
    name = values.clean(cells[0]).replace("\x00", "")
    if not 0 < len(name) <= NAME_MAX:
        raise _FieldFault(f"Name must have 1 to {NAME_MAX} characters.")
    last = _parse_day("Last Rating Period", cells[6])
    if last > day:
        raise _FieldFault(f"Last Rating Period is after {day}, the day of the data.")
    rd = _parse_number("RD", cells[4], RD_MAX)
    if rd == 0:
        raise _FieldFault("RD must be above 0.")
    # These two follow from the other columns, but any other content shows that it is another file.
    _parse_number("Lower Bound", cells[5].strip().removeprefix("-"), RATING_MAX)
    if not CLASS.fullmatch(cells[7].strip()):
        raise _FieldFault("Rating class must be a number from 0 to 7 or empty.")
    return ImportedRating(
        name=name,
        user_id=_parse_id("User ID", cells[1]),
        ifpa_id=_parse_id("IFPA ID", cells[2]),
        rating=_parse_number("Rating", cells[3], RATING_MAX),
        rd=rd,
        last_period=last,
    )


def _refuse_duplicate(rating: ImportedRating, row: int, seen: dict[tuple[str, int], int]) -> None:
    for name, number in (("User ID", rating.user_id), ("IFPA ID", rating.ifpa_id)):
        if number is None:
            continue
        before = seen.setdefault((name, number), row)
        if before != row:
            raise _FieldFault(f"{name} {number} is in row {before} already.")


def _parse_id(name: str, text: str) -> int | None:
    if not text.strip():
        return None
    if not ID.fullmatch(text.strip()) or not 1 <= int(text) <= ID_MAX:
        raise _FieldFault(f"{name} must be an id or empty.")
    return int(text)


def _parse_number(name: str, text: str, most: int) -> float:
    if not NUMBER.fullmatch(text.strip()) or float(text) > most:
        raise _FieldFault(f"{name} must be a number from 0 to {most}.")
    return float(text)


def _parse_day(name: str, text: str) -> date:
    try:
        day = date.fromisoformat(text.strip())
    except ValueError as error:
        raise _FieldFault(f"{name} must be a date (YYYY-MM-DD).") from error
    if day.isoformat() != text.strip():
        raise _FieldFault(f"{name} must be a date (YYYY-MM-DD).")
    return day
