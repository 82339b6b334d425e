"""Workers against one process: processor time of a request, and the way of a commit to the others' sockets.

Both servers have the same SQLite database and are asked in turn; each ratio is that of one pair. Processor
time is that of all processes of a server. Linux only. Prints a table; exit code 1 when a bar is missed.
"""

import itertools
import json
import socket
import statistics
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import msgspec
from websockets.sync.client import connect

import load
import run
from run import BIN, Row

WORKERS = 4
PAIRS = 9
CACHED, COMPUTED = 4_000, 300
CONNECTIONS = 8
COMMITS = 100
FOLLOWERS = 8
RATIO_MAX = 1.10
SECONDS_MAX = 0.050
IDLE_SECONDS = 3.0
# No computed answer is asked for twice.
_numbers = itertools.count()
SOCKET = "/app/silverball?protocol=7&client=js&version=8.5.0&flash=false"


def family(process: int) -> Iterator[int]:
    """The ids of a process and of all below it."""
    yield process
    children = Path(f"/proc/{process}/task/{process}/children").read_text(encoding="ascii")
    for child in children.split():
        yield from family(int(child))


def cpu_nanoseconds(process: int) -> int:
    """Processor time of all threads of a process and of all below it."""
    total = 0
    for member in family(process):
        for schedule in Path(f"/proc/{member}/task").glob("*/schedstat"):
            total += int(schedule.read_text(encoding="ascii").split()[0])
    return total


class Asking:
    """Connections to one server, used in turn."""

    def __init__(self, server: run.Server, idle: float) -> None:
        self._process = server.pid
        # What the server takes when nobody asks, in nanoseconds a second.
        self._idle = idle
        self._sockets = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(CONNECTIONS)]

    def cost(self, wire: bytes, total: int) -> float:
        """Processor nanoseconds of the server for one request, over so many."""
        # So that each worker knows the answer.
        self._ask(wire, 10 * CONNECTIONS)
        began, before = time.perf_counter(), cpu_nanoseconds(self._process)
        self._ask(wire, total)
        idle = self._idle * (time.perf_counter() - began)
        return (cpu_nanoseconds(self._process) - before - idle) / total

    def _ask(self, wire: bytes, total: int) -> None:
        for n in range(total):
            exchange(self._sockets[n % CONNECTIONS], wire.replace(b"NUMBER", b"%d" % next(_numbers)))

    def close(self) -> None:
        """Close the connections."""
        for opened in self._sockets:
            opened.close()


def exchange(connected: socket.socket, wire: bytes) -> None:
    connected.sendall(wire)
    received = b""
    while b"\r\n\r\n" not in received:
        received += connected.recv(65_536)
    head, _, body = received.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 200"), head
    length = int(head.lower().partition(b"content-length: ")[2].split(b"\r\n")[0])
    while len(body) < length:
        body += connected.recv(65_536)


def idle_nanoseconds(server: run.Server) -> float:
    """Processor nanoseconds a second of a server that nobody asks."""
    before = cpu_nanoseconds(server.pid)
    time.sleep(IDLE_SECONDS)
    return (cpu_nanoseconds(server.pid) - before) / IDLE_SECONDS


def compare(
    single: run.Server, many: run.Server, idle: dict[int, float], wire: bytes, total: int
) -> list[float]:
    """The cost with workers as a multiple of that with one process, of each pair."""
    ratios = []
    for pair in range(PAIRS):
        costs = {}
        # Each is first in every other pair. New connections, as the idle ones are closed.
        for server in (single, many) if pair % 2 else (many, single):
            asking = Asking(server, idle[server.port])
            costs[server.port] = asking.cost(wire, total)
            asking.close()
        ratios.append(costs[many.port] / costs[single.port])
        print(".", end="", flush=True, file=sys.stderr)
    return sorted(ratios)


def delivery_seconds(port: int, tournament_id: int, token: str) -> list[float]:
    """The times from an acknowledged commit to each of several sockets, whichever worker has them."""
    seconds = []
    with ExitStack() as stack:
        url = f"ws://127.0.0.1:{port}{SOCKET}"
        followers = [stack.enter_context(connect(url, proxy=None)) for _ in range(FOLLOWERS)]
        channel = {"channel": f"tournaments.{tournament_id}", "auth": ""}
        for follower in followers:
            follower.send(json.dumps({"event": "pusher:subscribe", "data": channel}))
            # The greeting, and the confirmation.
            follower.recv()
            follower.recv()
        for n in range(COMMITS):
            _send(port, f"/api/tournaments/{tournament_id}", token, "PATCH", {"name": f"Night {n}"})
            answered = time.perf_counter()
            for follower in followers:
                while "TournamentUpdated" not in str(follower.recv()):
                    pass
                seconds.append(time.perf_counter() - answered)
    return sorted(seconds)


def _send(port: int, path: str, token: str, method: str, body: object) -> bytes:
    request = urllib.request.Request(
        f"http://127.0.0.1:{port}{path}",
        data=json.dumps(body).encode(),
        headers={"Authorization": f"Bearer {token}", "Content-Type": "application/json"},
        method=method,
    )
    with urllib.request.urlopen(request, timeout=30) as answer:
        return bytes(answer.read())


def _prepare(folder: Path) -> str:
    run.silverball("migrate", folder=folder)
    user = ("user", "create", "--name", "Bench", "--email", "bench@example.org", "--role", "organizer")
    created = msgspec.json.decode(run.silverball(*user, "--json", folder=folder))
    token = ("token", "create", "--user", str(created["userId"]), "--name", "bench", "--ability", "manage")
    return run.silverball(*token, folder=folder)


def rows(folder: Path) -> Iterator[Row]:
    """Measure, row by row."""
    token = _prepare(folder)
    environment = {
        "SILVERBALL_DATABASE_URL": f"sqlite:///{folder / 'bench.db'}",
        "SILVERBALL_RATE_LIMIT_PER_MINUTE": "0",
    }
    with ExitStack() as stack:
        servers = []
        for workers in (1, WORKERS):
            port = run.free_port()
            command = [str(BIN / "silverball"), "serve", "--port", str(port), "--workers", str(workers)]
            servers.append(stack.enter_context(run.running_server(command, port, "/up", **environment)))
        single, many = servers
        idle = {server.port: idle_nanoseconds(server) for server in servers}
        shares = [f"{idle[server.port] / 1e7:.1f} %" for server in servers]
        yield Row(f"idle, one and {WORKERS} workers, of a core", ", ".join(shares), "none", True)
        night = {"name": "Night", "type": "matchplay"}
        made = msgspec.json.decode(_send(single.port, "/api/tournaments", token, "POST", night))
        path = f"/api/tournaments/{made['data']['tournamentId']}"
        for name, wire, total in (
            ("cached", load.request(path, token), CACHED),
            ("computed", load.request(f"{path}?n=NUMBER", token), COMPUTED),
        ):
            low, *_, high = ratios = compare(single, many, idle, wire, total)
            middle = statistics.median(ratios)
            measured = f"{low:.2f} {middle:.2f} {high:.2f}"
            yield Row(
                f"{name} read, {WORKERS} workers : one", measured, f"<= {RATIO_MAX:.2f}", middle <= RATIO_MAX
            )
        seconds = delivery_seconds(many.port, made["data"]["tournamentId"], token)
        late = seconds[int(len(seconds) * 0.95)]
        measured = f"{statistics.median(seconds) * 1e3:.1f} ms, p95 {late * 1e3:.1f} ms"
        yield Row("commit to the sockets of all workers", measured, "p95 <= 50 ms", late <= SECONDS_MAX)


def main() -> int:
    """Measure and print; the exit code."""
    with tempfile.TemporaryDirectory() as folder:
        measured = list(rows(Path(folder)))
    print(run.table(measured))
    return 0 if all(row.is_met for row in measured) else 1


if __name__ == "__main__":
    sys.exit(main())
