"""Videos about machines, from a file that the operator maintains."""

from pathlib import Path
from typing import Annotated, Any

from msgspec import Meta, Struct

from silverball.exchange import json_file
from silverball.exchange.bundle.faults import BrokenFile
from silverball.kit.http.fields import Line, Url
from silverball.rules.opdb import ids as opdb
from silverball.service.machines.writes import machines as writes
from silverball.service.machines.writes import moves
from silverball.store.transaction import Transaction
from silverball_wire.machines import Video

SECONDS_MAX = 360_000


class FileVideo(Struct, rename="camel", frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A video. The operator writes the file by hand, so an unknown field is a fault."""

    opdb_id: str
    title: Annotated[str, Meta(min_length=1, max_length=200)]
    url: Url
    provider: Line | None = None
    author: Line | None = None
    duration_seconds: Annotated[int, Meta(ge=0, le=SECONDS_MAX)] | None = None


def read(path: Path) -> list[Video]:
    """Read and check a file. Raises BrokenFile with the row and field of the first fault, or OSError."""
    return parse(json_file.read(path))


def parse(raw: Any) -> list[Video]:
    """Check the JSON of a file: a list, or an object with the list `videos`. Raises BrokenFile."""
    at, listed = ("$.videos", raw.get("videos")) if isinstance(raw, dict) else ("$", raw)
    if not isinstance(listed, list):
        raise BrokenFile("$", "This is neither a list of videos nor an object with the list `videos`.")
    rows = json_file.convert_rows(listed, FileVideo, at)
    json_file.refuse_duplicates((f"{at}[{n}]", (row.opdb_id, row.url)) for n, row in enumerate(rows))
    return [_new_video(f"{at}[{n}].opdbId", row) for n, row in enumerate(rows)]


def import_videos(transaction: Transaction, videos: list[Video]) -> None:
    """Replace the stored videos by those of the file, in the caller's transaction."""
    writes.replace_videos(transaction.connection, videos)
    moves.follow_moves(transaction)


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
