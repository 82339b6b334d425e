"""The public bulk files under /exports, with conditional requests."""

import hashlib
import json
import os
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from starlette.testclient import TestClient

import asgi
import build
from exchange import opdb_files as files
from silverball import app
from silverball.exchange import nightly, opdb
from silverball.exchange.current_files import CurrentFiles
from silverball.kit.edge.front import FrontDoor
from silverball.service.accounts.writes import accounts
from silverball.settings import Settings
from silverball.store.database.engine import Store

RATINGS, REVISIONS = "latest-ratings.csv", "latest-rating-revisions.csv"


@pytest.fixture
def user_id(store: Store) -> int:
    """A rated user with a federation number. Made before the files are written."""
    user_id = build.a_user(store, name="Zoe Nadir")
    build.a_rating(store, name="Zoe Nadir", name_folded="zoe nadir", user_id=user_id, ifpa_id=777_123)
    return user_id


@pytest.fixture
def folder(store: Store, user_id: int, tmp_path: Path) -> Path:
    """All bulk files, and one that is not published."""
    assert user_id
    with store.write() as transaction:
        opdb.import_machines(transaction, opdb.parse_machines(files.second_shape()))
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
        opdb.import_machines(transaction, opdb.parse_machines(renamed))
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


def hide(store: Store, user_id: int, **flags: bool) -> None:
    status, _, _ = build.do(store, "PATCH", "/api/users/profile", flags, by=user_id)
    assert status == 200


def body(door: FrontDoor, name: str) -> str:
    reply = asgi.get(door, f"/exports/{name}")
    assert reply.status == 200
    return reply.body.decode()


def test_who_opts_out_of_ratings_is_in_no_file_begun_after_that(
    user_id: int, store: Store, door: FrontDoor
) -> None:
    assert "Zoe Nadir" in body(door, RATINGS)
    assert f",{user_id}," in body(door, REVISIONS)
    hide(store, user_id, ratingsOptOut=True)
    assert "Zoe Nadir" not in body(door, RATINGS)
    assert f",{user_id}," not in body(door, REVISIONS)


def test_who_hides_their_profile_has_no_number_in_a_file_begun_after_that(
    user_id: int, store: Store, door: FrontDoor
) -> None:
    assert "777123" in body(door, RATINGS)
    hide(store, user_id, profileOptOut=True)
    assert "777123" not in body(door, RATINGS) + body(door, REVISIONS)
    assert "Zoe Nadir" in body(door, RATINGS)


def test_a_deleted_account_is_in_no_file_begun_after_that(
    user_id: int, store: Store, door: FrontDoor
) -> None:
    with store.write() as transaction:
        accounts.erase_account(transaction, user_id)
    assert "Zoe Nadir" not in body(door, RATINGS)


def test_the_manifest_is_always_that_of_the_file(user_id: int, store: Store, door: FrontDoor) -> None:
    hide(store, user_id, ratingsOptOut=True)
    manifest = json.loads(body(door, f"{RATINGS}.manifest.json"))
    assert manifest["sha256"] == hashlib.sha256(body(door, RATINGS).encode()).hexdigest()
    assert manifest["rows"] == 1


def test_nobody_is_told_that_an_older_copy_is_the_newest(user_id: int, store: Store, door: FrontDoor) -> None:
    names = (RATINGS, f"{RATINGS}.manifest.json")
    before = {name: asgi.get(door, f"/exports/{name}").headers for name in names}
    hide(store, user_id, ratingsOptOut=True)
    for name, known in before.items():
        for condition in ({"if-none-match": known["etag"]}, {"if-modified-since": known["last-modified"]}):
            assert asgi.get(door, f"/exports/{name}", headers=condition).status == 200


def test_the_files_are_written_anew_only_when_somebody_hid_something(
    user_id: int, store: Store, door: FrontDoor, folder: Path
) -> None:
    hide(store, user_id, ratingsOptOut=True)
    written = [(folder / name).stat().st_ino for name in (RATINGS, "latest-opdb.json") if body(door, name)]
    hide(store, user_id, ratingsOptOut=False)
    assert written == [
        (folder / name).stat().st_ino for name in (RATINGS, "latest-opdb.json") if body(door, name)
    ]


def test_a_file_that_cannot_be_written_anew_is_not_shown(
    user_id: int, store: Store, door: FrontDoor, folder: Path
) -> None:
    hide(store, user_id, ratingsOptOut=True)
    # The name of a folder is one thing that no file can replace, for root neither.
    (folder / f".{RATINGS}.stamp.json").unlink()
    (folder / f".{RATINGS}.stamp.json").mkdir()
    reply = asgi.get(door, f"/exports/{RATINGS}")
    assert (reply.status, json.loads(reply.body)["code"]) == (503, "bulk-file-outdated")
    assert int(reply.headers["retry-after"]) >= 1
    assert b"Zoe Nadir" not in reply.body


def test_a_file_of_another_writer_is_not_trusted(
    user_id: int, store: Store, door: FrontDoor, folder: Path
) -> None:
    """A slower node may replace the file by one that it began before the opt-out."""
    older = (folder / RATINGS).read_bytes()
    hide(store, user_id, ratingsOptOut=True)
    assert "Zoe Nadir" not in body(door, RATINGS)
    (folder / RATINGS).write_bytes(older)
    os.utime(folder / RATINGS)
    assert asgi.get(door, f"/exports/{RATINGS}").body != older


def test_hiding_again_and_again_writes_files_for_a_tenth_of_the_time(
    user_id: int, store: Store, folder: Path
) -> None:
    moment = 100.0

    def now() -> datetime:
        nonlocal moment
        moment += 1
        return build.NOW

    files = CurrentFiles(store, folder, now, lambda: moment)
    hide(store, user_id, ratingsOptOut=True)
    assert files.seconds_to_wait(RATINGS) == 0
    hide(store, user_id, profileOptOut=True)
    waits: list[int] = []
    while waits[-1:] != [0]:
        waits.append(files.seconds_to_wait(RATINGS))
        moment += 1
    assert waits == [9, 8, 7, 6, 5, 4, 3, 2, 1, 0]
