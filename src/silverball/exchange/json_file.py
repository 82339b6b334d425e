"""JSON files of other programs: read, checked, and refused with the place of the first fault."""

from collections.abc import Iterable
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from silverball.exchange.bundle import faults as bundle_faults
from silverball.exchange.bundle.faults import BrokenFile
from silverball.kit.conversions import convert
from silverball_wire import times

BYTES_MAX = 50 * 2**20
# No record is older than the services that publish it.
YEAR_MIN = 1990
T = TypeVar("T")


def read(path: Path) -> Any:
    """The content of a JSON file. Raises BrokenFile or OSError."""
    size = path.stat().st_size
    if size > BYTES_MAX:
        raise BrokenFile("$", f"The file has {size} bytes; {BYTES_MAX} are read at most.")
    return decode(path.read_bytes())


def decode(content: bytes) -> Any:
    """The JSON of a file's bytes. Raises BrokenFile for content that is not JSON or cannot be stored."""
    try:
        raw = msgspec.json.decode(content)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BrokenFile("$", f"The file is not JSON in UTF-8 ({error}).") from error
    bundle_faults.refuse_unstorable_values(raw)
    return raw


def convert_rows(raw: Any, kind: type[T], at: str = "$") -> tuple[T, ...]:
    """The list at the JSON path `at`, as Structs of one kind. Raises BrokenFile with row and field."""
    try:
        return convert(raw, tuple[kind, ...])  # type: ignore[valid-type]  # a type at run time
    except msgspec.ValidationError as error:
        raise bundle_faults.fault_from_validation(error, at) from error


def refuse_duplicates(places: Iterable[tuple[str, object]]) -> None:
    """Raise BrokenFile for the first key that two places share. Takes pairs of JSON path and key."""
    first_paths: dict[object, str] = {}
    for path, key in places:
        if key in first_paths:
            raise BrokenFile(path, f"{key} is in the file twice, first at {first_paths[key]}.")
        first_paths[key] = path


def parse_moment(path: str, text: str) -> datetime:
    """The time, in any form that the interface writes. Raises BrokenFile."""
    try:
        parsed = times.parse_moment(text)
    except (ValueError, OverflowError) as error:
        raise BrokenFile(path, f"{text!r} is not a date and time.") from error
    if parsed.year < YEAR_MIN:
        raise BrokenFile(path, f"{text!r} is before {YEAR_MIN}.")
    return parsed
