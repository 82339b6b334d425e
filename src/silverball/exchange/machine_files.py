"""Tips from the file of all tips. Source: ratings C.2."""

from collections.abc import Iterable
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any, TypeVar

import msgspec
from msgspec import Meta, Struct

from silverball.exchange.bundle import checks
from silverball.exchange.bundle.checks import BrokenFile
from silverball.kit.http.fields import Id, Line, Url
from silverball.kit.values import convert
from silverball.rules import opdb
from silverball.service.machines import writes as machines_writes
from silverball.service.machines.writes import MachineMoves, NewTip, TipCounts
from silverball.store.database.transaction import Transaction
from silverball_wire import base
from silverball_wire.base import ID_MAX
from silverball_wire.machines import TipCategory, Video

# JSON files of other programs: read, checked, and refused with the place of the first fault.


BYTES_MAX = 50 * 2**20
# No record is older than the services that publish it.
YEAR_MIN = 1990
T = TypeVar("T")


def read_json(path: Path) -> Any:
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
    checks.refuse_unstorable_values(raw)
    return raw


def convert_rows(raw: Any, kind: type[T], at: str = "$") -> tuple[T, ...]:
    """The list at the JSON path `at`, as Structs of one kind. Raises BrokenFile with row and field."""
    try:
        return convert(raw, tuple[kind, ...])  # type: ignore[valid-type]  # a type at run time
    except msgspec.ValidationError as error:
        raise checks.fault_from_validation(error, at) from error


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
        parsed = base.parse_moment(text)
    except (ValueError, OverflowError) as error:
        raise BrokenFile(path, f"{text!r} is not a date and time.") from error
    if parsed.year < YEAR_MIN:
        raise BrokenFile(path, f"{text!r} is before {YEAR_MIN}.")
    return parsed


class FileTip(Struct, rename="camel", frozen=True, kw_only=True):
    """A row of the file."""

    tip_id: Id
    # Null in our own bulk file when the machine was deleted.
    opdb_id: str | None
    category: TipCategory
    vote_total: Annotated[int, Meta(ge=-ID_MAX, le=ID_MAX)] = 0
    text: Annotated[str, Meta(min_length=1, max_length=10_000)]
    created_at: str
    updated_at: str


def read_pintips(path: Path) -> list[NewTip]:
    """Read and check a file. Raises BrokenFile with the row and field of the first fault, or OSError."""
    return parse_pintips(read_json(path))


def parse_pintips(raw: Any) -> list[NewTip]:
    """Check the JSON of a file. Raises BrokenFile."""
    if not isinstance(raw, list):
        raise BrokenFile("$", "This is not a list of tips.")
    rows = convert_rows(raw, FileTip)
    refuse_duplicates((f"$[{n}]", row.tip_id) for n, row in enumerate(rows))
    return [_new_tip(f"$[{n}]", row) for n, row in enumerate(rows)]


def import_tips(
    transaction: Transaction, tips: list[NewTip], *, is_forced: bool = False
) -> tuple[TipCounts, MachineMoves]:
    """Replace the stored tips by those of the file, under the present ids of their machines.

    In the caller's transaction. Raises Conflict for a file with far fewer tips than are stored.
    """
    counts = machines_writes.replace_tips(transaction.connection, tips, is_forced=is_forced)
    return counts, machines_writes.follow_moves(transaction)


def _new_tip(place: str, row: FileTip) -> NewTip:
    group_id = None
    if row.opdb_id is not None:
        group_id = opdb.group_id_of(row.opdb_id)
        if group_id is None:
            raise BrokenFile(f"{place}.opdbId", f"{row.opdb_id!r} is not an id of the machine database.")
    return NewTip(
        tip_id=row.tip_id,
        opdb_id=group_id,
        category=row.category,
        vote_total=row.vote_total,
        text=row.text,
        created_at=parse_moment(f"{place}.createdAt", row.created_at),
        updated_at=parse_moment(f"{place}.updatedAt", row.updated_at),
    )


# Videos about machines, from a file that the operator maintains.


SECONDS_MAX = 360_000


class FileVideo(Struct, rename="camel", frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A video. The operator writes the file by hand, so an unknown field is a fault."""

    opdb_id: str
    title: Annotated[str, Meta(min_length=1, max_length=200)]
    url: Url
    provider: Line | None = None
    author: Line | None = None
    duration_seconds: Annotated[int, Meta(ge=0, le=SECONDS_MAX)] | None = None


def read_videos(path: Path) -> list[Video]:
    """Read and check a file. Raises BrokenFile with the row and field of the first fault, or OSError."""
    return parse_videos(read_json(path))


def parse_videos(raw: Any) -> list[Video]:
    """Check the JSON of a file: a list, or an object with the list `videos`. Raises BrokenFile."""
    at, listed = ("$.videos", raw.get("videos")) if isinstance(raw, dict) else ("$", raw)
    if not isinstance(listed, list):
        raise BrokenFile("$", "This is neither a list of videos nor an object with the list `videos`.")
    rows = convert_rows(listed, FileVideo, at)
    refuse_duplicates((f"{at}[{n}]", (row.opdb_id, row.url)) for n, row in enumerate(rows))
    return [_new_video(f"{at}[{n}].opdbId", row) for n, row in enumerate(rows)]


def import_videos(transaction: Transaction, videos: list[Video]) -> None:
    """Replace the stored videos by those of the file, in the caller's transaction."""
    machines_writes.replace_videos(transaction.connection, videos)
    machines_writes.follow_moves(transaction)


def _new_video(place: str, row: FileVideo) -> Video:
    if opdb.parse_id(row.opdb_id) is None:
        raise BrokenFile(place, f"{row.opdb_id!r} is not an id of the machine database.")
    return Video(
        title=row.title,
        url=row.url,
        provider=row.provider,
        author=row.author,
        duration_seconds=row.duration_seconds,
        opdb_id=row.opdb_id,
    )
