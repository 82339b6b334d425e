"""Answers from memory, as a multiple of bare uvicorn that sends the same bytes and headers.

Requests per CPU second of the server, while clients ask as fast as they are answered (wrk, 64 of them): what
a server can bear. With clients who leave it idle in between, both take longer for a request (`run.py`). Ours
and the bare server take turns of a second; each ratio is that of a pair. Ours also knows the caller, counts
the request, and asks whether the answer still holds. Prints a table; exit code 1 when a bound is missed.
"""

import json
import re
import shutil
import statistics
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random

import run
from engine import Device
from run import PATHS, Row

PAIRS = 9
# Clients who ask as fast as they are answered, and for how long in each turn.
LOAD_CONNECTIONS, LOAD_SECONDS = 64, 1
PLAYERS, ROUNDS = 60, 3
RUNNING = "standings, running"
# What is asked -> the least ratio; None is reported.
BOUNDS: dict[str, float | None] = {
    "standings": 1.8,
    "tournament": None,
    "games": None,
    RUNNING: 1.5,
    "304": 2.0,
    "304, running": None,
}


@dataclass(frozen=True)
class Asked:
    """A request: its path, and the tag that the client has."""

    path: str
    etag: str | None = None

    @property
    def options(self) -> list[str]:
        """The words for wrk."""
        return ["-H", f"If-None-Match: {self.etag}"] if self.etag else []


def cpu_nanoseconds(process: int) -> int:
    """Processor time of all threads of a process."""
    schedules = Path(f"/proc/{process}/task").glob("*/schedstat")
    return sum(int(schedule.read_text(encoding="ascii").split()[0]) for schedule in schedules)


def under_load(server: run.Server, url: str, token: str, *options: str) -> tuple[int, int]:
    """Processor nanoseconds of the server, and its answers, while wrk asks as fast as it is answered."""
    command = ["wrk", "-t1", f"-c{LOAD_CONNECTIONS}", f"-d{LOAD_SECONDS}s", *options]
    before = cpu_nanoseconds(server.pid)
    done = subprocess.run(
        [*command, "-H", f"Authorization: Bearer {token}", url], capture_output=True, text=True, check=True
    )
    spent = cpu_nanoseconds(server.pid) - before
    answered = re.search(r"(\d+) requests in", done.stdout)
    assert answered is not None, done.stdout
    assert "Non-2xx" not in done.stdout, done.stdout
    return spent, int(answered[1])


def play_night(port: int, token: str) -> str:
    """The path of a tournament with two completed rounds and a half."""
    device, dice = Device(port, token), Random(60)
    night = device.send("POST", "/tournaments", {"name": "Bench", "type": "group_matchplay"})
    path = f"/tournaments/{night['data']['tournamentId']}"
    names = [{"name": f"Flipper {number}"} for number in range(PLAYERS)]
    device.send("POST", f"{path}/players", {"players": names})
    device.send("POST", f"{path}/start")
    for number in range(ROUNDS):
        device.send("POST", f"{path}/rounds", {})
        games = device.send("GET", f"{path}/games?status=started")["data"]
        for game in games[: None if number < ROUNDS - 1 else len(games) // 2]:
            places = dice.sample(game["playerIds"], len(game["playerIds"]))
            device.send("PUT", f"{path}/games/{game['gameId']}/result", {"resultPositions": places})
    return f"/api{path}"


def rows(folder: Path) -> Iterator[Row]:
    """Measure, row by row."""
    if shutil.which("wrk") is None:
        yield Row("answers from memory", "not measured: wrk is not installed", ">= 1.8", is_met=False)
        return
    reader = run.prepare(folder)
    account = ("user", "create", "--name", "Olga Ramp", "--email", "olga@example.org", "--role", "organizer")
    organizer = json.loads(run.silverball(*account, "--json", folder=folder))["userId"]
    words = ("token", "create", "--user", str(organizer), "--name", "bench", "--ability", "manage")
    environment = {
        "SILVERBALL_DATABASE_URL": f"sqlite:///{folder / 'bench.db'}",
        "SILVERBALL_QUOTAS": "open",
    }
    port, bare_port = run.free_port(), run.free_port()
    serve = [str(run.BIN / "silverball"), "serve", "--host", "127.0.0.1", "--port", str(port)]
    with run.running_server(serve, port, "/up", **environment) as ours:
        running = play_night(port, run.silverball(*words, folder=folder))
        paths = {**PATHS, RUNNING: f"{running}/standings"}
        answers = run.record_answers(port, reader, paths.values())
        asked = {name: Asked(path) for name, path in paths.items()}
        for name, same in zip(paths, answers[1::2], strict=True):
            if "standings" in name:
                etag = dict(same["headers"])["etag"]
                asked[name.replace("standings", "304")] = Asked(paths[name], etag)
        recorded = folder / "answers.json"
        recorded.write_text(json.dumps(answers), encoding="utf-8")
        bare = run.uvicorn_command("raw_app:app", bare_port)
        first = PATHS["standings"]
        with run.running_server(bare, bare_port, first, SILVERBALL_BENCH_ANSWERS=str(recorded)) as raw:
            for name, bound in BOUNDS.items():
                yield _measured_row(name, bound, ours, raw, asked[name], reader)


def _measured_row(
    name: str, bound: float | None, ours: run.Server, raw: run.Server, asked: Asked, token: str
) -> Row:
    ratios = []
    for number in range(PAIRS):
        costs = {}
        # Each is first in every other pair.
        for server in (ours, raw)[:: 1 if number % 2 else -1]:
            url = f"http://127.0.0.1:{server.port}{asked.path}"
            nanoseconds, answered = under_load(server, url, token, *asked.options)
            costs[server.port] = nanoseconds / answered
        ratios.append(costs[raw.port] / costs[ours.port])
    middle = statistics.median(ratios)
    measured = f"{min(ratios):.2f} / {middle:.2f} / {max(ratios):.2f}"
    label = "reported" if bound is None else f">= {bound}"
    return Row(f"{name} from memory : bare uvicorn", measured, label, bound is None or middle >= bound)


if __name__ == "__main__":
    raise SystemExit(run.measure(rows))
