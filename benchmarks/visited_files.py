"""How many of our files a recorded result runs through, in the thread that answers it.

    python benchmarks/visited_files.py --list

A warm server in this process records a result in the middle of a round of group match play; the files are
those of the Python functions that its write thread calls. Prints the row of the table, and with `--list`
each file with the number of calls into it, the fewest first.
"""

import argparse
import asyncio
import json
import sys
import tempfile
import threading
from collections import Counter
from pathlib import Path
from types import FrameType
from typing import Any

import run
from run import Row
from silverball.kit.edge.front import FrontDoor
from silverball.store.database import migrate
from silverball.store.database.engine import Store

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
import asgi
import build
from test_app import a_token, running_app

FILES_MAX = 55
ROOT = Path(__file__).resolve().parents[1]
WRITE_THREADS = "silverball-writer_"
SOURCES = (f"{ROOT}/src/", f"{ROOT}/clients/python/src/")


class VisitedFiles:
    """The calls into each of our files, while it notes them."""

    def __init__(self) -> None:
        self.calls: Counter[str] = Counter()
        self.is_noting = False

    def note(self, frame: FrameType, event: str, _argument: object) -> None:
        """Note a call of a write thread; a profile function of `sys.setprofile`."""
        if not self.is_noting or event != "call":
            return
        path = frame.f_code.co_filename
        if path.startswith(SOURCES) and threading.current_thread().name.startswith(WRITE_THREADS):
            self.calls[path.split("/src/", 1)[1]] += 1


def main() -> int:
    """Record a result and print the number of files; return the exit status."""
    options = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    options.add_argument("--list", action="store_true", help="print the files, the least visited first")
    given = options.parse_args()
    with tempfile.TemporaryDirectory(prefix="silverball-bench-") as folder:
        store = Store(f"sqlite:///{folder}/silverball.db", Path(folder) / "secret")
        store.key_file.may_make = True
        migrate.migrate(store)
        visited = recorded_result(store)
        store.close()
    if given.list:
        for path, calls in sorted(visited.calls.items(), key=lambda pair: (pair[1], pair[0])):
            print(f"{calls:6}  {path}")
    count = len(visited.calls)
    print(run.table([Row("Files of a result", str(count), f"<= {FILES_MAX}", count <= FILES_MAX)]))
    return 0 if count <= FILES_MAX else 1


def recorded_result(store: Store) -> VisitedFiles:
    """The files of the second result of a round of three games."""
    organizer_id = build.a_user(store, role="organizer")
    token = a_token(store, organizer_id, ability="manage")
    visited = VisitedFiles()
    threading.setprofile(visited.note)
    try:
        with running_app(store) as door:
            new = {"name": "Thursday", "type": "group_matchplay"}
            night = _send(door, token, "POST", "/api/tournaments", new)["data"]
            path = f"/api/tournaments/{night['tournamentId']}"
            players = [{"name": name} for name in "ABCDEFGHIJKL"]
            _send(door, token, "POST", f"{path}/players", {"players": players})
            _send(door, token, "POST", f"{path}/start", {})
            _send(door, token, "POST", f"{path}/rounds", {})
            games = _send(door, token, "GET", f"{path}/games?status=started")["data"]
            for game, visited.is_noting in zip(games[:2], (False, True), strict=True):
                result = {"resultPositions": game["playerIds"]}
                _send(door, token, "PUT", f"{path}/games/{game['gameId']}/result", result)
    finally:
        threading.setprofile(None)
    return visited


def _send(door: FrontDoor, token: str, method: str, path: str, body: object = None) -> Any:
    content = b"" if body is None else json.dumps(body).encode()
    headers = {"content-type": "application/json", "content-length": str(len(content))} if content else {}
    reply = asyncio.run(asgi.send(door, path, method=method, token=token, body=content, headers=headers))
    assert reply.status < 300, (path, reply.status, reply.body)
    return reply.json


if __name__ == "__main__":
    sys.exit(main())
