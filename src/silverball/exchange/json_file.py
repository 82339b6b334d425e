"""JSON files that others made: read whole, checked, and told with the place of the first fault."""

from collections.abc import Iterable
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from silverball.exchange.bundle import faults as bundle_faults
from silverball.exchange.bundle.faults import BrokenFile
from silverball.wire import times

BYTES_MAX = 50 * 2**20
# Nothing that is told here is older than the services that tell it.
YEAR_MIN = 1990
T = TypeVar("T")


def read(path: Path) -> Any:
    """What the file holds. Raises BrokenFile, or OSError."""
    size = path.stat().st_size
    if size > BYTES_MAX:
        raise BrokenFile("$", f"The file has {size} bytes; {BYTES_MAX} are read at most.")
    return decode(path.read_bytes())


def decode(content: bytes) -> Any:
    """The content of a file. Raises BrokenFile for what is no JSON or could not be stored."""
    try:
        raw = msgspec.json.decode(content)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BrokenFile("$", f"The file is not JSON in UTF-8 ({error}).") from error
    bundle_faults.refuse_unstorable_values(raw)
    return raw


def convert_rows(raw: Any, kind: type[T], at: str = "$") -> tuple[T, ...]:
    """The list at the JSON path `at`, as Structs of one kind. Raises BrokenFile with row and field."""
    try:
        return msgspec.convert(raw, tuple[kind, ...])  # type: ignore[valid-type]  # a type at run time
    except msgspec.ValidationError as error:
        raise bundle_faults.fault_from_validation(error, at) from error


def refuse_duplicates(places: Iterable[tuple[str, object]]) -> None:
    """Raises BrokenFile for the first key that stands at two places. Takes (JSON path, key)."""
    seen: dict[object, str] = {}
    for path, key in places:
        if key in seen:
            raise BrokenFile(path, f"{key} stands in the file twice, first at {seen[key]}.")
        seen[key] = path


def parse_moment(path: str, text: str) -> datetime:
    """The moment in any form that the interface writes. Raises BrokenFile."""
    try:
        found = times.parse_moment(text)
    except (ValueError, OverflowError) as error:
        raise BrokenFile(path, f"{text!r} is no moment.") from error
    if found.year < YEAR_MIN:
        raise BrokenFile(path, f"{text!r} is before {YEAR_MIN}.")
    return found
