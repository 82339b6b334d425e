"""A commit that hangs in the disk's sync: its sender is answered, and the key decides what became of it."""

import json
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import pytest

import build
from cli.test_serve import Serving, serving
from silverball.store import tables
from silverball.store.database.engine import Store
from test_app import a_token
from trials.injected_faults import hanging_calls, need_strace

HANG_SECONDS = 120


def send(server: Serving, token: str, name: str, key: str) -> tuple[int, Any, str | None]:
    """Status, body and mark of a replay."""
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json", "Idempotency-Key": key}
    request = urllib.request.Request(
        f"{server.base_url}/api/players", json.dumps({"name": name}).encode(), headers, method="POST"
    )
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.status, json.loads(answer.read()), answer.headers["idempotency-replayed"]
    except urllib.error.HTTPError as error:
        return error.code, json.loads(error.read()), None


@pytest.fixture
def file(tmp_path: Path, empty_sqlite: Path) -> Path:
    path = tmp_path / "club.db"
    path.write_bytes(empty_sqlite.read_bytes())
    return path


def test_a_commit_that_hangs_is_answered_and_its_key_acts_once(file: Path) -> None:
    need_strace()
    store = Store(f"sqlite:///{file}")
    token = a_token(store, build.a_user(store, role="organizer"), ability="manage")
    store.close()
    with serving(f"sqlite:///{file}") as server:
        assert send(server, token, "Ed", "first")[0] == 201
        log = file.with_name("club.db-wal")
        with hanging_calls(server.process.pid, "fdatasync,fsync", HANG_SECONDS, [log]):
            status, body, _ = send(server, token, "Bo", "hangs")
            assert (status, body["code"]) == (503, "outcome-unknown")
            status, body, _ = send(server, token, "Bo", "hangs")
            assert (status, body["code"]) == (409, "request-in-progress")
        for _ in range(100):
            status, body, replayed = send(server, token, "Bo", "hangs")
            if status == 201:
                break
            assert status in {409, 503}
        assert (status, replayed, body["data"]["name"]) == (201, "true", "Bo")
    store = Store(f"sqlite:///{file}")
    with store.read() as db:
        names = [row.name for row in db.execute(tables.player.select())]
    store.close()
    assert sorted(names) == ["Bo", "Ed"]
