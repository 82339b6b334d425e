"""The bulk tables under /exports: the newest ones, without whoever opted out meanwhile."""

import hashlib
import json
import time
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from starlette.testclient import TestClient

import asgi
import build
from exchange import bulk_world
from exchange.bulk_world import APRIL, NOW, claim
from silverball import app
from silverball.exchange import bulk
from silverball.exchange.bulk import CurrentTables
from silverball.kit.edge.front import FrontDoor
from silverball.service.accounts.writes import accounts
from silverball.settings import Settings
from silverball.store.database.engine import Store

RESULTS, PLAYERS, OTHER = "results-2026-03.csv", "players-2026-03.csv", "players-2026-04.csv"
NAME = "Zoe Nadir"


@pytest.fixture
def user_id(store: Store) -> int:
    """A user who played in March, in a site that has a night in April too."""
    night = bulk_world.a_night(store)
    bulk_world.a_night(store, APRIL)
    return claim(store, night.player_ids[0], name=NAME)


@pytest.fixture
def folder(store: Store, user_id: int, tmp_path: Path) -> Path:
    written = tmp_path / "exports"
    bulk_world.write_all(store, written)
    (written / "results-2026-05.csv").write_text("CANARY")
    return written


@pytest.fixture
def door(store: Store, folder: Path) -> Iterator[FrontDoor]:
    limits = Settings(base_url=build.BASE_URL, rate_limit_per_minute=1, exports_folder=str(folder))
    built = app.build(store, limits)
    with TestClient(built):
        yield built


def body(door: FrontDoor, name: str) -> str:
    reply = asgi.get(door, f"/exports/{name}")
    assert reply.status == 200, (name, reply.body)
    return reply.body.decode()


def hide(store: Store, user_id: int, **flags: bool) -> None:
    status, _, _ = build.do(store, "PATCH", "/api/users/profile", flags, by=user_id)
    assert status == 200


def test_every_file_of_the_manifest_can_be_fetched(door: FrontDoor) -> None:
    manifest = json.loads(body(door, bulk.MANIFEST))
    types = {"csv": "text/csv; charset=utf-8", "parquet": "application/vnd.apache.parquet"}
    assert {file["month"] for file in manifest["files"]} == {"2026-03", "2026-04", None}
    for file in manifest["files"]:
        reply = asgi.get(door, f"/exports/{file['file']}")
        assert (reply.status, reply.headers["content-type"]) == (200, types[file["format"]])
        assert (len(reply.body), hashlib.sha256(reply.body).hexdigest()) == (file["bytes"], file["sha256"])
        again = {"if-none-match": reply.headers["etag"]}
        assert asgi.get(door, f"/exports/{file['file']}", headers=again).status == 304


def test_a_part_of_a_file_can_be_fetched(door: FrontDoor) -> None:
    """Programs that read Parquet from afar ask for the end of it first."""
    part = asgi.get(door, f"/exports/{RESULTS}", headers={"range": "bytes=0-6"})
    assert (part.status, part.body) == (206, b"game_id")


@pytest.mark.parametrize(
    "name", ["results-2026-05.csv", "results-2026-13.csv", ".tables-2026-03.json", "results-all.csv", "x.csv"]
)
def test_nothing_else_is_published(door: FrontDoor, name: str) -> None:
    reply = asgi.get(door, f"/exports/{name}")
    assert reply.status == 404
    assert b"CANARY" not in reply.body


def test_who_opts_out_vanishes_at_once(user_id: int, store: Store, door: FrontDoor, folder: Path) -> None:
    before = {name: asgi.get(door, f"/exports/{name}").headers["etag"] for name in (PLAYERS, RESULTS, OTHER)}
    untouched = (folder / OTHER).stat().st_ino
    assert f",{user_id}," in body(door, PLAYERS)
    hide(store, user_id, statsOptOut=True)
    assert f",{user_id}," not in body(door, PLAYERS)
    assert len(body(door, RESULTS).splitlines()) == 1 + 3
    for name, etag in before.items():
        reply = asgi.get(door, f"/exports/{name}", headers={"if-none-match": etag})
        # A month in which nobody hid anything is as it was.
        assert (name, reply.status) == (name, 304 if name == OTHER else 200)
    assert (folder / OTHER).stat().st_ino == untouched
    if bulk.is_available():
        reader = pytest.importorskip("pyarrow.parquet")
        (folder / "seen.parquet").write_bytes(asgi.get(door, "/exports/players-2026-03.parquet").body)
        assert reader.read_table(folder / "seen.parquet").num_rows == 3


def test_an_erased_person_vanishes_at_once(user_id: int, store: Store, door: FrontDoor) -> None:
    assert "777123" in body(door, PLAYERS)
    with store.write() as transaction:
        accounts.erase_account(transaction, user_id)
    assert "777123" not in body(door, PLAYERS)


def test_the_manifest_is_always_that_of_the_files(user_id: int, store: Store, door: FrontDoor) -> None:
    # The third answer counts on the second.
    assert len({body(door, bulk.MANIFEST) for _ in range(3)}) == 1
    hide(store, user_id, historyOptOut=True)
    for _ in range(20):
        reply = asgi.get(door, f"/exports/{bulk.MANIFEST}")
        if reply.status == 200:
            break
        assert (reply.status, json.loads(reply.body)["code"]) == (503, "bulk-file-outdated")
        time.sleep(int(reply.headers["retry-after"]))
    files = {file["file"]: file for file in json.loads(reply.body)["files"]}
    for name in (PLAYERS, RESULTS, OTHER):
        assert files[name]["sha256"] == hashlib.sha256(body(door, name).encode()).hexdigest()


def test_a_file_that_cannot_be_written_anew_is_not_shown(
    user_id: int, store: Store, door: FrontDoor, folder: Path
) -> None:
    hide(store, user_id, statsOptOut=True)
    record = folder / ".tables-2026-03.json"
    content = record.read_bytes()
    (folder / "games-2026-03.csv").unlink()
    # A folder is one thing that no file can replace.
    (folder / "games-2026-03.csv").mkdir()
    reply = asgi.get(door, f"/exports/{PLAYERS}")
    assert (reply.status, json.loads(reply.body)["code"]) == (503, "bulk-file-outdated")
    assert record.read_bytes() == content


def test_a_file_of_another_writer_is_not_trusted(
    user_id: int, store: Store, door: FrontDoor, folder: Path
) -> None:
    """A slower node may replace the file by one that it began before the opt-out."""
    older = (folder / PLAYERS).read_bytes()
    hide(store, user_id, statsOptOut=True)
    assert f",{user_id}," not in body(door, PLAYERS)
    (folder / PLAYERS).write_bytes(older)
    assert asgi.get(door, f"/exports/{PLAYERS}").body != older


def test_hiding_again_and_again_writes_files_for_a_tenth_of_the_time(
    user_id: int, store: Store, folder: Path
) -> None:
    moment = 100.0

    def now() -> datetime:
        nonlocal moment
        moment += 1
        return NOW + timedelta(days=1)

    tables = CurrentTables(store, folder, now, lambda: moment)
    hide(store, user_id, statsOptOut=True)
    assert tables.seconds_to_wait(PLAYERS) == 0
    hide(store, user_id, profileOptOut=True)
    waits: list[int] = []
    while waits[-1:] != [0]:
        waits.append(tables.seconds_to_wait(PLAYERS))
        moment += 1
    assert waits == [9, 8, 7, 6, 5, 4, 3, 2, 1, 0]
    assert tables.seconds_to_wait(OTHER) == 0
