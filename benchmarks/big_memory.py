"""The memory of a server whose every route, page and filter was asked, on the big database.

SQLite. A server with its default settings answers each line of `big_requests` over HTTP: first for the
largest of its kind and for an ordinary one, then for many. Linux only; `--scale 0.1` builds a tenth. Prints a
table; exit code 1 when the bound is missed.
"""

import argparse
import http.client
import json
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import SystemRandom

import big_world
import load
import run
from big_requests import ADMIN, GUEST, ORGANIZER, REGULAR, requests
from big_world import BigWorld
from run import BIN, Row
from silverball.service.accounts.writes import sessions
from silverball.store.database.engine import Store

# Every second is the largest of its kind.
ASKED_ONCE, ASKED_OFTEN = range(2), range(2, 24)
MEMORY_MEGABYTES_MAX = 180
# After a start, its first jobs have run.
SETTLED_SECONDS = 5
PACE_SECONDS = 1
USERS = {ORGANIZER: 1, REGULAR: big_world.REGULAR_ID, ADMIN: big_world.ADMIN_ID}
# The service and the image of `deploy/` set the first.
ENVIRONMENT = {
    "MALLOC_ARENA_MAX": "2",
    "SILVERBALL_QUOTAS": "open",
    "SILVERBALL_PUBLIC_READ": "true",
}
BUILD = """
import dataclasses, json, sys
import big_world
print(json.dumps(dataclasses.asdict(big_world.build(sys.argv[1], float(sys.argv[2])))))
"""


def main() -> int:
    """Build, ask, print the table, and say by the exit code whether the bound is met."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--scale", type=float, default=1.0)
    scale = parser.parse_args().scale
    with tempfile.TemporaryDirectory(prefix="silverball-big-") as name:
        url = f"sqlite:///{Path(name) / 'big.db'}"
        rows = _measure(url, _build(url, scale))
    print(run.table(rows))
    return 0 if all(row.is_met for row in rows) else 1


def _build(url: str, scale: float) -> BigWorld:
    """The world, built by another process."""
    command = [sys.executable, "-c", BUILD, url, str(scale)]
    done = subprocess.run(command, check=True, capture_output=True, text=True, cwd=run.HERE)
    return BigWorld(**json.loads(done.stdout))


def _headers(url: str, world: BigWorld) -> dict[str, dict[str, dict[str, str]]]:
    """The headers of each caller, for the interface and for pages."""
    tokens = {
        ORGANIZER: world.organizer_token,
        REGULAR: world.regular_token,
        ADMIN: world.admin_token,
    }
    found: dict[str, dict[str, dict[str, str]]] = {GUEST: {"api": {}, "page": {}}}
    store = Store(url)
    for caller, user_id in USERS.items():
        with store.write() as transaction:
            session = sessions.start_session(
                transaction.connection,
                user_id,
                now=datetime.now(UTC),
                lifetime=timedelta(days=1),
                dice=SystemRandom(),
            )
        cookie = {"Cookie": f"silverball_session={session.secret}"}
        found[caller] = {"api": {"Authorization": f"Bearer {tokens[caller]}"}, "page": cookie}
    store.close()
    return found


def _measure(url: str, world: BigWorld) -> list[Row]:
    headers = _headers(url, world)
    port = run.free_port()
    serve = [str(BIN / "silverball"), "serve", "--host", "127.0.0.1", "--port", str(port)]
    with run.running_server(serve, port, "/ready", SILVERBALL_DATABASE_URL=url, **ENVIRONMENT) as server:
        time.sleep(SETTLED_SECONDS)
        started = load.resident_megabytes(server.pid)
        lines = requests(world)
        memory = []
        for turns in (ASKED_ONCE, ASKED_OFTEN):
            for number, request in enumerate(lines, start=1):
                print(f"\r{number} of {len(lines)} lines", end="", flush=True, file=sys.stderr)
                for n in turns:
                    address = request.address(n)
                    kind = "api" if address.startswith("/api/") else "page"
                    _ask(port, headers[request.caller][kind], address)
            memory.append(load.resident_megabytes(server.pid))
    once, often = memory
    return [
        Row("memory after the start", f"{started:.0f} MB", "reported", is_met=True),
        Row(
            f"after {len(lines)} routes, pages and filters were asked",
            f"{once:.0f} MB",
            f"<= {MEMORY_MEGABYTES_MAX} MB",
            once <= MEMORY_MEGABYTES_MAX,
        ),
        Row(f"after each was asked {ASKED_OFTEN.stop} times", f"{often:.0f} MB", "reported", is_met=True),
    ]


def _ask(port: int, headers: dict[str, str], address: str) -> None:
    """Ask until there is an answer. Raises RuntimeError for a refusal that no waiting helps against."""
    while True:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        connection.request("GET", address, headers=headers)
        answer = connection.getresponse()
        answer.read()
        connection.close()
        if answer.status == 200:
            return
        if answer.status != 429:
            raise RuntimeError(f"{address}: {answer.status}")
        # Pages have a pace for each address, which no setting changes.
        time.sleep(PACE_SECONDS)


if __name__ == "__main__":
    raise SystemExit(main())
