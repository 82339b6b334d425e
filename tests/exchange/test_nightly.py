"""The bulk files: complete, described by their manifest, replaced at once."""

import hashlib
import json
import tracemalloc
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import insert

import build
from exchange import opdb_files as files
from silverball.exchange import nightly, opdb
from silverball.exchange.nightly import BULK_FILES, BulkFile
from silverball.store import tables
from silverball.store.database.engine import Store

OPDB, TIPS = BULK_FILES[:2]


@pytest.mark.parametrize("export", BULK_FILES, ids=[bulk_file.name for bulk_file in BULK_FILES])
def test_a_manifest_describes_its_file(store: Store, tmp_path: Path, export: BulkFile) -> None:
    with store.write() as transaction:
        opdb.import_machines(transaction, opdb.parse_machines(files.second_shape()))
    build.a_rating(store)
    folder = tmp_path / "a" / "new" / "one"
    manifest = nightly.write_bulk_file(store, export, folder, build.NOW)
    assert manifest is not None
    content = (folder / export.name).read_bytes()
    stored = json.loads((folder / f"{export.name}.manifest.json").read_bytes())
    assert stored == {
        "file": export.name,
        "sha256": hashlib.sha256(content).hexdigest(),
        "bytes": len(content),
        "rows": manifest.rows,
        "generatedAt": "2026-03-05T19:30:00.000000Z",
    }
    assert nightly.written_at(export, folder) == build.NOW
    published = [path.name for path in folder.iterdir() if not path.name.startswith(".")]
    assert sorted(published) == [export.name, export.manifest_name]


def test_every_entry_is_a_row(store: Store, tmp_path: Path) -> None:
    with store.write() as transaction:
        opdb.import_machines(transaction, opdb.parse_machines(files.second_shape()))
    manifest = nightly.write_bulk_file(store, OPDB, tmp_path, build.NOW)
    assert manifest is not None
    assert manifest.rows == 6
    listed = json.loads((tmp_path / OPDB.name).read_bytes())["entries"]
    assert [entry["opdbId"] for entry in listed][:2] == ["G4ODR", "G4ODR-MLzY7"]
    assert listed[1]["images"] == [{**files.IMAGE, "group": None}]
    assert opdb.read_machines(tmp_path / OPDB.name).entries.keys() == {entry["opdbId"] for entry in listed}


def test_a_failed_write_leaves_the_old_file_and_nothing_else(store: Store, tmp_path: Path) -> None:
    nightly.write_bulk_file(store, OPDB, tmp_path, build.NOW)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}

    def breaks(_db: Any) -> Iterator[str]:
        yield '{"entries":[\n'
        raise OSError(28, "No space left on device")

    with pytest.raises(OSError, match="No space left"):
        nightly.write_bulk_file(
            store, BulkFile(OPDB.name, breaks, frame_lines=2), tmp_path, build.NOW + timedelta(days=1)
        )
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_a_file_without_lines_is_not_written(store: Store, tmp_path: Path) -> None:
    nothing = BulkFile("latest-nothing.csv", lambda _db: iter(()), frame_lines=1)
    assert nightly.write_bulk_file(store, nothing, tmp_path, build.NOW) is None
    assert list(tmp_path.glob("*latest*")) == []


def test_memory_does_not_grow_with_the_file(store: Store, tmp_path: Path) -> None:
    tip = {"opdb_id": "G4ODR", "category": "general", "vote_total": 0, "text": "x" * 10_000}
    with store.write() as transaction:
        moments = {"created_at": build.NOW, "updated_at": build.NOW}
        transaction.connection.execute(
            insert(tables.tip), [{**tip, **moments, "tip_id": n} for n in range(1, 2001)]
        )
    tracemalloc.start()
    manifest = nightly.write_bulk_file(store, TIPS, tmp_path, build.NOW)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert manifest is not None
    assert manifest.bytes > 20_000_000
    assert peak < 6_000_000


def test_lines_are_written_as_they_come(store: Store, tmp_path: Path) -> None:
    """A long sequence of lines, none of which stays in memory."""
    seen = []

    def lines(_db: Any) -> Iterator[str]:
        yield "Number\n"
        for n in range(200_000):
            if n % 50_000 == 0:
                seen.append(sum(path.stat().st_size for path in tmp_path.iterdir()))
            yield f"{n}\n"

    manifest = nightly.write_bulk_file(
        store, BulkFile("numbers.csv", lines, frame_lines=1), tmp_path, build.NOW
    )
    assert manifest is not None
    assert manifest.rows == 200_000
    assert seen == sorted(set(seen))


@pytest.mark.parametrize("content", [b"", b"{}", b'{"file":"x"}', b'{"generatedAt":"then"}', b"\xff"])
def test_an_unreadable_manifest_counts_as_missing(store: Store, tmp_path: Path, content: bytes) -> None:
    nightly.write_bulk_file(store, OPDB, tmp_path, build.NOW)
    (tmp_path / OPDB.manifest_name).write_bytes(content)
    assert nightly.written_at(OPDB, tmp_path) is None


def test_a_manifest_without_its_file_counts_as_missing(store: Store, tmp_path: Path) -> None:
    nightly.write_bulk_file(store, OPDB, tmp_path, build.NOW)
    (tmp_path / OPDB.name).unlink()
    assert nightly.written_at(OPDB, tmp_path) is None
