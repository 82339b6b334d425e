"""The bulk files: all machines, tips or ratings in one file, for programs that need more than a few pages.

A new file is written beside the old one and replaces it when complete, so a download is always one or
the other. Its manifest holds its digest, size and row count.
"""

import hashlib
from collections.abc import Callable, Iterator
from datetime import datetime
from itertools import chain
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from silverball.exchange import files
from silverball.kit.values import decode
from silverball.service.machines import reads as machines
from silverball.service.ratings import reads as ratings_reads
from silverball.store.database.engine import Store
from silverball.store.people import hidings
from silverball_wire import base

MANIFEST = ".manifest.json"
STAMP = ".stamp.json"


class BulkFile(Struct, frozen=True):
    """A bulk file: its name, and its lines from a database snapshot, each with its line end."""

    name: str
    lines: Callable[[Any], Iterator[str]]
    # Lines that are not rows: the header of a CSV file, the brackets of a JSON list.
    frame_lines: int
    # Whether it has rows of people, who may hide them.
    has_people: bool = False

    @property
    def manifest_name(self) -> str:
        return self.name + MANIFEST

    @property
    def stamp_name(self) -> str:
        return f".{self.name}{STAMP}"


# A new bulk file is one line here.
BULK_FILES: tuple[BulkFile, ...] = (
    BulkFile("latest-opdb.json", machines.machine_json_lines, frame_lines=2),
    BulkFile("latest-pintips.json", machines.tip_json_lines, frame_lines=2),
    BulkFile("latest-ratings.csv", ratings_reads.rating_csv_lines, frame_lines=1, has_people=True),
    BulkFile("latest-rating-revisions.csv", ratings_reads.revision_csv_lines, frame_lines=1, has_people=True),
)
# Every file that the site writes for download.
FILE_NAMES = frozenset(name for bulk_file in BULK_FILES for name in (bulk_file.name, bulk_file.manifest_name))
# Results for a rating submission to try; only the demo has this file.
SAMPLE_RESULTS = "sample-results.json"
# The same players on another evening, to be tried out in /docs.
SANDBOX_RESULTS = "sandbox-results.json"


class Manifest(msgspec.Struct, rename="camel", frozen=True, kw_only=True):
    """The description of a bulk file: its digest, size in bytes and number of rows."""

    file: str
    sha256: str
    bytes: int
    rows: int
    generated_at: str


class Stamp(msgspec.Struct, frozen=True, kw_only=True):
    """The state that a file with rows of people was written in, kept in a file that is not published."""

    # Of the content, as two nodes may write into the same folder.
    sha256: str
    hidings: int


def write_bulk_file(store: Store, export: BulkFile, folder: Path, now: datetime) -> Manifest | None:
    """Write the file and its manifest; None when there is nothing to write yet. Raises OSError."""
    folder.mkdir(parents=True, exist_ok=True)
    digest, size, count = hashlib.sha256(), 0, 0
    with store.read() as db:
        hiding_count = hidings.hiding_count(db)
        lines = export.lines(db)
        first = next(lines, None)
        if first is None:
            return None
        with files.replace_atomically(folder / export.name) as file:
            for line in chain([first], lines):
                content = line.encode()
                digest.update(content)
                file.write(content)
                size += len(content)
                count += 1
    manifest = Manifest(
        file=export.name,
        sha256=digest.hexdigest(),
        bytes=size,
        rows=count - export.frame_lines,
        generated_at=base.iso(now),
    )
    with files.replace_atomically(folder / export.manifest_name) as file:
        file.write(msgspec.json.encode(manifest) + b"\n")
    if export.has_people:
        with files.replace_atomically(folder / export.stamp_name) as file:
            file.write(msgspec.json.encode(Stamp(sha256=manifest.sha256, hidings=hiding_count)))
    return manifest


def read_stamp(export: BulkFile, folder: Path) -> Stamp | None:
    """Return the state that the file was written in; None when nobody noted it."""
    try:
        return decode((folder / export.stamp_name).read_bytes(), Stamp)
    except (OSError, msgspec.DecodeError):
        return None


def written_at(export: BulkFile, folder: Path) -> datetime | None:
    """The time at which the file was written; None when it or its manifest is missing or broken."""
    try:
        content = (folder / export.manifest_name).read_bytes()
        manifest = decode(content, Manifest)
        return base.parse_moment(manifest.generated_at) if (folder / export.name).exists() else None
    except (FileNotFoundError, msgspec.DecodeError, ValueError):
        return None
