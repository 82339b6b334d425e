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
from click.testing import CliRunner
from sqlalchemy import select

from exchange import bundles
from silverball.cli import demo as command
from silverball.cli.main import silverball_group
from silverball.demo import nights as demo_nights
from silverball.kit.security import passwords
from silverball.service.accounts import reads as accounts_reads
from silverball.settings import PREFIX, SETTINGS
from silverball.store import tables
from silverball.store.database.engine import Store
from silverball.store.database.migrate import migrate

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
    """The decoded answer to a curl line."""
    words = [word for word in shlex.split(line) if word != "-s"]
    assert words[:2] == ["curl", "-H"]
    name, _, value = words[2].partition(": ")
    request = urllib.request.Request(words[3], headers={name: value})
    with urllib.request.urlopen(request, timeout=READY_SECONDS) as answer:
        return json.load(answer)


def run_pasted_lines(lines: list[str]) -> list[str]:
    """The outputs of the printed commands, pasted into one shell one after the other."""
    commands = [line.strip() for line in lines if line.strip().startswith(("export ", "curl "))]
    # The stream has no end of its own.
    script = "".join(f"{line}; printf '\\036'\n" for line in commands).replace("curl -sN", "curl -sN -m 1")
    done = subprocess.run(
        ["sh", "-c", script], capture_output=True, text=True, check=False, timeout=READY_SECONDS
    )
    return done.stdout.split("\036")[1:-1]


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
        # Loading writes a line or two: what is to be pasted stands alone.
        before_ready = (tmp_path / "log").read_text().partition('"starting"')[0]
        assert len(before_ready.splitlines()) < 5, before_ready
        token = next(line.split()[-1] for line in lines if line.strip().startswith("Token"))
        base_url = next(line.split()[-1] for line in lines if line.strip().startswith("Base URL"))
        pasted = run_pasted_lines(lines)
        assert len(pasted) == 5
        live, open_games, finished, listed, stream = pasted
        assert len(json.loads(live)) == 16
        assert {game["status"] for game in json.loads(open_games)["data"]} == {"started"}
        assert len(json.loads(finished)["data"]["players"]) == 15
        assert len(json.loads(listed)["data"]) == 5
        assert stream.startswith("id: ")
        curl = f"curl -H 'Authorization: Bearer {token}' {base_url}"
        standings = run_curl(f"{curl}/api/tournaments/244501/standings")
        assert [row["position"] for row in standings] == [1, 2, 3, 4, 4, 6, 6, 8, 8, 8, 11, 11, 11, 11, 15]
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
        assert set(ready) == {
            "baseUrl",
            "wsUrl",
            "lanUrl",
            "appKey",
            "token",
            "userId",
            "email",
            "password",
            "tournamentId",
            "liveTournamentId",
        }
        assert (ready["tournamentId"], ready["liveTournamentId"], ready["lanUrl"]) == (244501, 1, None)
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
        # Sandbox tournaments are played by people whom no federation knows.
        ids = {tournament["name"]: tournament["tournamentId"] for tournament in finished}
        one_of_them = {"tournamentId": ids[demo_nights.FINISHED[0].name]}
        estimate = post_query(ready["baseUrl"], ready["token"], "/api/ifpa/wppr-estimator", one_of_them)
        assert estimate["players"]
        assert len(estimate["standingsOrder"]) == len(estimate["players"]) + len(estimate["unresolvedNames"])
        queues = run_curl(f"{curl}/api/tournaments/{running_now[demo_nights.QUEUES.name]}/queues")["data"]
        assert [len(each) for each in queues.values()] == [2, 2, 1]
        _wait_for_a_result(curl)
        submitted = post_query(
            ready["baseUrl"],
            ready["token"],
            "/api/rating-submissions",
            {"url": f"{ready['baseUrl']}/exports/sample-results.json"},
        )["data"]
        path = f"/api/rating-submissions/{submitted['ratingSubmissionId']}"
        fetched = _submission_after_fetching(f"{curl}{path}")
        assert (fetched["status"], fetched["name"]) == ("needs_players", "Thursday at the Drain")
        unknown = {"players": [{"name": "Rosa Ember", "ifpaId": None}]}
        settled = post_query(ready["baseUrl"], ready["token"], f"{path}/ifpa", unknown)["data"]
        assert settled["status"] == "ready"
        rounds = run_curl(f"{curl}/api/tournaments/1/rounds")["data"]
    with running(data, "--json", "--host", "0.0.0.0") as lines:
        ready = json.loads(lines[0])
        assert ready["lanUrl"] is None or ready["lanUrl"] == ready["baseUrl"]
        curl = f"curl -H 'Authorization: Bearer {ready['token']}' {ready['baseUrl']}"
        mine = f"{curl}/api/tournaments?owner={ready['userId']}&limit=100"
        again = Counter(tournament["name"] for tournament in run_curl(f"{mine}&status=completed")["data"])
        assert [again[plan.name] for plan in demo_nights.FINISHED] == [1] * 21
        continued = {round_["name"] for round_ in run_curl(f"{curl}/api/tournaments/1/rounds")["data"]}
        assert {round_["name"] for round_ in rounds} <= continued
        _wait_for_a_result(curl)
    assert '"level": "error"' not in (tmp_path / "log").read_text()


def _wait_for_a_result(curl: str) -> None:
    """Wait until tournament 1 has a new result."""
    started = time.monotonic()
    seen: set[int] = set()
    while len(seen) < 2:
        assert time.monotonic() - started < READY_SECONDS, "Tournament 1 stands still."
        seen.add(len(run_curl(f"{curl}/api/tournaments/1/games?status=completed")["data"]))
        time.sleep(2)


def _submission_after_fetching(curl: str) -> Any:
    started = time.monotonic()
    while True:
        submission = run_curl(curl)["data"]
        if submission["status"] != "fetching":
            return submission
        assert time.monotonic() - started < READY_SECONDS
        time.sleep(0.5)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = Store(f"sqlite:///{tmp_path / 'silverball.db'}")
    migrate(opened)
    yield opened
    opened.close()


def test_the_token_owns_everything(store: Store, tmp_path: Path) -> None:
    furnished = command.load_demo(store, tmp_path / "token")
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
    monkeypatch.setattr(command, "BUNDLES", tmp_path)
    user_id = command.load_demo(store, tmp_path / "token").user_id
    password = command.organizer_password(store, user_id, tmp_path / "password")
    assert command.organizer_password(store, user_id, tmp_path / "password") == password
    with store.read() as db:
        login = accounts_reads.find_credentials(db, command.ORGANIZER_EMAIL)
    assert login is not None
    assert passwords.is_correct(password, login.password_hash)


def test_an_interrupted_load_of_the_demo_is_completed(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    few = tmp_path / "few"
    few.mkdir()
    for path in bundles.INVENTED[:2]:
        (few / path.name).write_bytes(path.read_bytes())
    monkeypatch.setattr(command, "BUNDLES", few)
    first = command.load_demo(store, tmp_path / "token")
    (tmp_path / "token").write_text("1|slv_lost")
    second = command.load_demo(store, tmp_path / "token")
    assert (second.user_id, second.token == first.token) == (first.user_id, False)
    assert command.load_demo(store, tmp_path / "token") == second
    with store.read() as db:
        assert len(db.execute(select(tables.club)).all()) == 1
        assert len(db.execute(select(tables.tournament)).all()) == 2


@pytest.mark.parametrize(
    ("base_url", "ws_url"),
    [
        ("http://127.0.0.1:8000", "ws://127.0.0.1:8000"),
        ("https://pinball.example", "wss://pinball.example"),
        ("http://192.168.1.5:8000", "ws://192.168.1.5:8000"),
    ],
)
def test_the_websocket_url_follows_the_base_url(base_url: str, ws_url: str) -> None:
    facts = command.DemoFacts(
        base_url=base_url, lan_url=None, token="t", user_id=1, email="d@silverball.invalid", password="p"
    )
    assert json.loads(command.ready_json(facts))["wsUrl"] == ws_url


# Of a site on the same machine.
OTHER_VALUES = {
    **{f"{PREFIX}{setting.name.upper()}": "nonsense" for setting in SETTINGS},
    f"{PREFIX}BASE_URL": "https://pinball.example.org",
}


def test_the_demo_reads_no_settings_of_the_machine_and_says_its_secrets_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data, file = tmp_path / "data", tmp_path / "silverball.toml"
    file.write_text("[mail\n")
    for name, value in {**OTHER_VALUES, f"{PREFIX}CONFIG": str(file)}.items():
        monkeypatch.setenv(name, value)
    nothing = CliRunner().invoke(silverball_group, ["demo", "--show", "--data", str(data)])
    assert (nothing.exit_code, "There is no demo in" in nothing.stderr) == (1, True)
    with running(data, "--json", "--no-robots") as lines:
        ready = json.loads(lines[-1])
        assert ready["baseUrl"].startswith("http://127.0.0.1:")
        again = CliRunner().invoke(silverball_group, ["demo", "--show", "--data", str(data)])
    assert again.exit_code == 0, again.output
    assert {ready["email"], ready["password"], ready["token"]} <= set(again.stdout.split())
