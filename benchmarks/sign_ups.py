"""Two hundred people sign up at once for a tournament with a hundred places, over HTTP, on SQLite.

    python benchmarks/sign_ups.py

Each has the form open on a connection of their own, and all send it at the same moment; a time is that from
sending to the whole answer, with any time that a person is asked to wait. The crowd runs beside the server on
the same machine. Prints a table; exit code 1 when a bar is missed.
"""

import argparse
import json
import os
import statistics
import sys
import tempfile
import urllib.request
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import load
import run
from run import BIN, Row, Server

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
from door_crowd import SentForm, sign_up_at_once

PEOPLE, LIMIT = 200, 100
P95_SECONDS_MAX = 0.5
REGISTRATION = {"status": "active", "playerLimit": LIMIT, "hasWaitlist": True}


class Organizer:
    """An organizer's token at a server."""

    def __init__(self, port: int, token: str) -> None:
        self._port, self._token = port, token

    def send(self, method: str, path: str, body: Any = None) -> Any:
        """The data of the answer."""
        headers = {"Authorization": f"Bearer {self._token}", "Content-Type": "application/json"}
        content = None if body is None else json.dumps(body).encode()
        address = f"http://127.0.0.1:{self._port}/api{path}"
        request = urllib.request.Request(address, content, headers, method=method)
        with urllib.request.urlopen(request, timeout=20) as answer:
            return json.load(answer)["data"]


@dataclass(frozen=True)
class Evening:
    """The seconds of each sign-up, and the CPU seconds of the server for all of them."""

    seconds: list[float]
    cpu_seconds: float


def one_evening(organizer: Organizer, server: Server, number: int) -> Evening:
    """The sign-ups of a new tournament. Raises RuntimeError where the list is not right."""
    created = organizer.send("POST", "/tournaments", {"name": f"Door {number}", "type": "matchplay"})
    path = f"/tournaments/{created['tournamentId']}"
    organizer.send("PATCH", path, {"rsvpConfiguration": REGISTRATION})
    code = organizer.send("GET", f"{path}/sign-ups")["code"]
    names = [f"Flipper {person}" for person in range(PEOPLE)]
    began: list[float] = []
    address = f"{path.replace('/tournaments', '/t')}/sign-up?code={code}"
    forms = sign_up_at_once([server.port], address, names, lambda: began.append(load.cpu_seconds(server.pid)))
    cpu_seconds = load.cpu_seconds(server.pid) - began[0]
    _check(forms, organizer.send("GET", f"{path}/sign-ups")["people"])
    return Evening([form.seconds for form in forms], cpu_seconds)


def _check(forms: list[SentForm], people: list[dict[str, Any]]) -> None:
    placed = sum(person["place"] == "signed-up" for person in people)
    positions = [person["position"] for person in people if person["place"] == "waiting"]
    is_right = placed == LIMIT and positions == list(range(1, PEOPLE - LIMIT + 1))
    if not is_right or any(form.status != 200 for form in forms):
        statuses = Counter(form.status for form in forms)
        raise RuntimeError(f"{placed} have a place and {len(positions)} wait: {statuses}")


def main() -> int:
    """Measure, print the table, and say by the exit code whether every bound is met."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--evenings", type=int, default=5)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="silverball-door-") as name:
        folder = Path(name)
        run.silverball("migrate", folder=folder)
        who = ("--name", "Olga Ramp", "--email", "olga@example.org", "--role", "organizer", "--json")
        created = json.loads(run.silverball("user", "create", *who, folder=folder))
        owner = ("--user", str(created["userId"]), "--name", "bench", "--ability", "manage")
        token = run.silverball("token", "create", *owner, folder=folder)
        port = run.free_port()
        command = [str(BIN / "silverball"), "serve", "--port", str(port)]
        environment = {
            "SILVERBALL_DATABASE_URL": f"sqlite:///{folder / 'bench.db'}",
            "SILVERBALL_QUOTAS": "open",
        }
        with run.running_server(command, port, "/ready", **environment) as server:
            organizer = Organizer(port, token)
            one_evening(organizer, server, 0)
            evenings = [one_evening(organizer, server, number + 1) for number in range(given.evenings)]
    p95 = statistics.median(statistics.quantiles(evening.seconds, n=20)[18] for evening in evenings)
    middle = statistics.median(statistics.median(evening.seconds) for evening in evenings)
    longest = max(max(evening.seconds) for evening in evenings)
    cpu = statistics.median(evening.cpu_seconds for evening in evenings) / PEOPLE
    rows = [
        Row(f"sign-up, {PEOPLE} at once: p95", f"{p95 * 1000:.0f} ms", "500 ms", p95 <= P95_SECONDS_MAX),
        Row("half of them within", f"{middle * 1000:.0f} ms", "", True),
        Row("the last of all evenings", f"{longest * 1000:.0f} ms", "", True),
        Row("CPU of the server, each", f"{cpu * 1000:.1f} ms", "", True),
        Row("programs at work, last minute", f"{os.getloadavg()[0]:.1f}", "", True),
        Row("places above the cap", "0", "0", True),
    ]
    for row in rows:
        print(f"| {row.what} | {row.measured} | {row.bound} | {'yes' if row.is_met else 'NO'} |")
    return 0 if all(row.is_met for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
