"""`silverball demo` in its own process: the printed commands work."""

import json
import shlex
import signal
import stat
import subprocess
import sys
import time
import urllib.request
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from exchange import bundles
from silverball.cli import demo, demo_nights
from silverball.kit import passwords
from silverball.service.sessions import reads as sessions
from silverball.store import tables
from silverball.store.engine import Store
from silverball.store.migrate import migrate

READY_SECONDS = 60


@contextmanager
def running(data: Path, *words: str) -> Iterator[list[str]]:
    """The lines that the demo printed until it was ready."""
    command = [
        sys.executable,
        "-m",
        "silverball.cli.main",
        "demo",
        "--port",
        "0",
        "--data",
        str(data),
        *words,
    ]
    with (data.parent / "log").open("a") as log:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True)
    try:
        assert process.stdout is not None
        lines = []
        for line in process.stdout:
            lines.append(line.rstrip("\n"))
            if line.startswith("{") or "Ctrl-C" in line:
                break
        yield lines
    finally:
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=READY_SECONDS)


def run_curl(line: str) -> Any:
    """The decoded answer to a printed curl line."""
    words = shlex.split(line)
    assert words[:2] == ["curl", "-H"]
    name, _, value = words[2].partition(": ")
    request = urllib.request.Request(words[3], headers={name: value})
    with urllib.request.urlopen(request, timeout=READY_SECONDS) as answer:
        return json.load(answer)


def post_query(base_url: str, token: str, path: str, body: Any) -> Any:
    """The decoded answer to a POST that reads."""
    headers = {"Authorization": f"Bearer {token}"}
    request = urllib.request.Request(base_url + path, json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request, timeout=READY_SECONDS) as answer:
        return json.load(answer)


def test_a_printed_line_answers_with_a_real_knockouts_standings_and_the_second_start_reuses(
    tmp_path: Path,
) -> None:
    data = tmp_path / "demo"
    with running(data, "--no-robots") as lines:
        curls = [line.strip() for line in lines if line.strip().startswith("curl ")]
        assert len(curls) == 3
        standings = run_curl(curls[0])
        assert [row["position"] for row in standings] == [1, 2, 3, 4, 4, 6, 6, 8, 8, 8, 11, 11, 11, 11, 15]
        assert len(run_curl(curls[1])["data"]) == 5
        assert len(run_curl(curls[2])["data"]["players"]) == 15
        token = next(line.split()[-1] for line in lines if line.strip().startswith("Token"))
        base_url = next(line.split()[-1] for line in lines if line.strip().startswith("Base URL"))
        curl = f"curl -H 'Authorization: Bearer {token}' {base_url}"
        tips = run_curl(f"{curl}/api/pintips?opdbId=G4ODR-MDXEy")
        assert tips["opdbInfo"]["supplementary"] == "Bally, 1992"
        assert len(tips["pintips"]) == 2
        with urllib.request.urlopen(f"{base_url}/exports/latest-opdb.json") as answer:
            machines = {entry["opdbId"] for entry in json.load(answer)["entries"]}
        assert machines > {"G4ODR", "G4ODR-MDXEy", "G5pe4-MePZv"}
        signing_in = next(line for line in lines if "/run" in line)
        assert (data / "password").read_text().strip() in signing_in
    for secret in ("token", "password"):
        assert stat.S_IMODE((data / secret).stat().st_mode) == 0o600
    started = time.monotonic()
    with running(data, "--json", "--no-robots") as lines:
        assert time.monotonic() - started < READY_SECONDS
        ready = json.loads(lines[0])
        assert set(ready) == {"baseUrl", "wsUrl", "appKey", "token", "userId", "tournamentId"}
        assert (ready["token"], ready["appKey"]) == (token, "silverball")
        assert ready["wsUrl"] == ready["baseUrl"].replace("http:", "ws:")
        curl = f"curl -H 'Authorization: Bearer {token}' {ready['baseUrl']}"
        assert run_curl(f"{curl}/api/tournaments/{ready['tournamentId']}/standings") == standings
        assert run_curl(f"{curl}/api/users/{ready['userId']}")["club"]["name"] == "The Lantern Flippers"
        occasion = run_curl(f"{curl}/api/events/7061")["data"]
        assert len(occasion["tournaments"]) == 6
        series = run_curl(f"{curl}/api/series/7081?includeDetails=true")["data"]
        assert len(series["tournamentIds"]) == 4
        assert series["standings"][0]["position"] == 1
        names = {"names": ["Ada Quill", "edie frost", "Nobody Known"]}
        estimate = post_query(ready["baseUrl"], token, "/api/ifpa/wppr-estimator", names)
        assert [player["name"] for player in estimate["players"]] == ["Edie Frost", "Ada Quill"]
        assert estimate["unresolvedNames"] == ["Nobody Known"]
    assert "Loading" not in (tmp_path / "log").read_text().split("Loading", 2)[-1]


def test_robots_finish_a_tournament_of_each_format_and_play_a_live_one(tmp_path: Path) -> None:
    data = tmp_path / "demo"
    with running(data, "--json") as lines:
        ready = json.loads(lines[0])
        curl = f"curl -H 'Authorization: Bearer {ready['token']}' {ready['baseUrl']}"
        mine = f"{curl}/api/tournaments?owner={ready['userId']}&limit=100"
        finished = run_curl(f"{mine}&status=completed")["data"]
        names = Counter(tournament["name"] for tournament in finished)
        assert [names[plan.name] for plan in demo_nights.FINISHED] == [1] * 21
        running_now = {
            tournament["name"]: tournament["tournamentId"]
            for tournament in run_curl(f"{mine}&status=started")["data"]
        }
        one_of_them = {"tournamentId": finished[0]["tournamentId"]}
        estimate = post_query(ready["baseUrl"], ready["token"], "/api/ifpa/wppr-estimator", one_of_them)
        assert estimate["players"]
        assert len(estimate["standingsOrder"]) == len(estimate["players"]) + len(estimate["unresolvedNames"])
        queues = run_curl(f"{curl}/api/tournaments/{running_now[demo_nights.QUEUES.name]}/queues")["data"]
        assert [len(each) for each in queues.values()] == [2, 2, 1]
        night = _moved(mine, curl)
    with running(data, "--json") as lines:
        ready = json.loads(lines[0])
        curl = f"curl -H 'Authorization: Bearer {ready['token']}' {ready['baseUrl']}"
        mine = f"{curl}/api/tournaments?owner={ready['userId']}&limit=100"
        again = Counter(tournament["name"] for tournament in run_curl(f"{mine}&status=completed")["data"])
        assert [again[plan.name] for plan in demo_nights.FINISHED] == [1] * 21
        # On a slow machine the tournament may be over by now, and the next one is live.
        assert again[demo_nights.LIVE.name] or _moved(mine, curl) == night
    assert '"level": "error"' not in (tmp_path / "log").read_text()


def _moved(mine: str, curl: str) -> int:
    """The id of the live tournament, once it has a new result."""
    started = time.monotonic()
    seen: set[int] = set()
    while time.monotonic() - started < READY_SECONDS:
        for tournament in run_curl(f"{mine}&status=started")["data"]:
            if tournament["name"] == demo_nights.LIVE.name:
                games = run_curl(
                    f"{curl}/api/tournaments/{tournament['tournamentId']}/games?status=completed"
                )["data"]
                seen.add(len(games))
                if len(seen) > 1:
                    return int(tournament["tournamentId"])
        time.sleep(2)
    raise AssertionError("The live night stands still.")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = Store(f"sqlite:///{tmp_path / 'silverball.db'}")
    migrate(opened)
    yield opened
    opened.close()


def test_the_token_owns_everything(store: Store, tmp_path: Path) -> None:
    furnished = demo.load_demo(store, tmp_path / "token")
    with store.read() as db:
        for table in (tables.tournament, tables.player, tables.arena, tables.location, tables.series):
            owners = db.execute(select(table.c.organizer_id).distinct()).scalars().all()
            assert owners == [furnished.user_id], table.name
        types = set(db.execute(select(tables.tournament.c.type)).scalars())
    assert len(bundles.NIGHTS) + len(bundles.INVENTED) == 31
    assert types == {
        "knockout",
        "group_knockout",
        "group_matchplay",
        "best_game",
        "card_best_game",
        "golf",
        "frenzy",
        "max_matchplay",
        "amazingrace",
    }


def test_the_organizer_of_the_demo_can_sign_in_with_the_same_password_each_time(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(demo, "BUNDLES", tmp_path)
    user_id = demo.load_demo(store, tmp_path / "token").user_id
    password = demo.organizer_password(store, user_id, tmp_path / "password")
    assert demo.organizer_password(store, user_id, tmp_path / "password") == password
    with store.read() as db:
        login = sessions.find_credentials(db, demo.ORGANIZER_EMAIL)
    assert login is not None
    assert passwords.is_correct(password, login.password_hash)


def test_an_interrupted_load_of_the_demo_is_completed(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    few = tmp_path / "few"
    few.mkdir()
    for path in bundles.INVENTED[:2]:
        (few / path.name).write_bytes(path.read_bytes())
    monkeypatch.setattr(demo, "BUNDLES", few)
    first = demo.load_demo(store, tmp_path / "token")
    (tmp_path / "token").write_text("1|slv_lost")
    second = demo.load_demo(store, tmp_path / "token")
    assert (second.user_id, second.token == first.token) == (first.user_id, False)
    assert demo.load_demo(store, tmp_path / "token") == second
    with store.read() as db:
        assert len(db.execute(select(tables.club)).all()) == 1
        assert len(db.execute(select(tables.tournament)).all()) == 2
