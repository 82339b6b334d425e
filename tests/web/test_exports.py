"""The public bulk files under /exports, with conditional requests."""

import json
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from starlette.testclient import TestClient

import asgi
import build
from exchange import opdb_files as files
from silverball import app
from silverball.exchange import nightly
from silverball.exchange.opdb import file as opdb_file
from silverball.kit.edge.front import FrontDoor
from silverball.settings import Settings
from silverball.store.engine import Store


@pytest.fixture
def folder(store: Store, tmp_path: Path) -> Path:
    """All bulk files, and one that is not published."""
    with store.write() as transaction:
        opdb_file.import_machines(transaction, opdb_file.parse(files.second_shape()))
    build.a_rating(store)
    for export in nightly.BULK_FILES:
        nightly.write_bulk_file(store, export, tmp_path, build.NOW)
    (tmp_path / "notes.txt").write_text("CANARY")
    (tmp_path / ".latest-opdb.json.1234.part").write_text("CANARY")
    return tmp_path


@pytest.fixture
def door(store: Store, folder: Path) -> Iterator[FrontDoor]:
    limits = Settings(base_url=build.BASE_URL, rate_limit_per_minute=1, exports_folder=str(folder))
    built = app.build(store, limits)
    with TestClient(built):
        yield built


@pytest.mark.parametrize("name", sorted(nightly.FILE_NAMES))
def test_a_file_can_be_fetched_again_and_again(door: FrontDoor, folder: Path, name: str) -> None:
    for _ in range(3):
        reply = asgi.get(door, f"/exports/{name}")
        assert (reply.status, reply.body) == (200, (folder / name).read_bytes())
    kind = "text/csv; charset=utf-8" if name.endswith(".csv") else "application/json"
    assert reply.headers["content-type"] == kind
    assert reply.headers["cache-control"] == "no-cache"
    assert reply.headers["access-control-allow-origin"] == "*"
    assert "x-ratelimit-limit" not in reply.headers
    head = asgi.get(door, f"/exports/{name}", method="HEAD")
    assert (head.status, head.body) == (200, b"")
    assert head.headers["content-length"] == str(len(reply.body))


def test_the_newest_file_is_not_sent_again(door: FrontDoor) -> None:
    first = asgi.get(door, "/exports/latest-opdb.json")
    for condition in (
        {"if-none-match": first.headers["etag"]},
        {"if-modified-since": first.headers["last-modified"]},
    ):
        again = asgi.get(door, "/exports/latest-opdb.json", headers=condition)
        assert (again.status, again.body) == (304, b"")
        assert again.headers["etag"] == first.headers["etag"]


def test_a_new_file_is_sent_to_clients_with_an_old_one(door: FrontDoor, store: Store, folder: Path) -> None:
    first = asgi.get(door, "/exports/latest-opdb.json")
    renamed = files.second_shape()
    renamed["entries"][0]["name"] = "Comet Runner"
    with store.write() as transaction:
        opdb_file.import_machines(transaction, opdb_file.parse(renamed))
    machines = next(bulk_file for bulk_file in nightly.BULK_FILES if bulk_file.name == "latest-opdb.json")
    nightly.write_bulk_file(store, machines, folder, build.NOW + timedelta(days=1))
    condition = {"if-none-match": first.headers["etag"]}
    again = asgi.get(door, "/exports/latest-opdb.json", headers=condition)
    assert again.status == 200
    assert json.loads(again.body)["entries"][0]["name"] == "Comet Runner"


@pytest.mark.parametrize(
    "path",
    ["notes.txt", ".latest-opdb.json.1234.part", "", "..", "../latest-opdb.json", "latest", "a/b", "\x00"],
)
def test_nothing_else_in_the_folder_is_shown(door: FrontDoor, path: str) -> None:
    reply = asgi.get(door, f"/exports/{path}")
    assert reply.status == 404
    assert b"CANARY" not in reply.body


def test_a_file_that_was_not_written_yet_is_not_found(store: Store, tmp_path: Path) -> None:
    for settings in (Settings(), Settings(exports_folder=str(tmp_path / "nowhere"))):
        built = app.build(store, settings)
        with TestClient(built):
            assert asgi.get(built, "/exports/latest-opdb.json").status == 404
