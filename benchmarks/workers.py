"""Workers against one process: processor time of a request, and the way of a commit to the others' sockets.

Both servers have the same SQLite database and are measured in turn; each ratio is that of one pair. Workers
are there for more requests than one process can answer, so the bar is for clients who ask as fast as they
are answered (wrk, where it is installed). One request at a time is reported beside it, with the same of
bare uvicorn, which knows no database: what the machine takes when one process after the other wakes up,
each with cold caches of the processor. Processor time is that of all processes of a server. Linux only.
Prints a table; exit code 1 when a bar is missed.
"""

import itertools
import json
import os
import re
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import msgspec
from websockets.sync.client import connect

import load
import run
from run import BIN, Row

WORKERS = 4
PAIRS = 9
CACHED, COMPUTED = 20_000, 2_000
# Clients who ask as fast as they are answered, and for how long in each turn.
LOAD_CONNECTIONS, LOAD_SECONDS = 64, 1
# Turns of both servers in a pair, as a shared machine changes its speed within seconds.
LOAD_TURNS = 4
COMMITS = 100
# Connections to each worker: those that ask, and those that follow. One process has as many in all.
PER_WORKER = 2
CONNECTIONS = PER_WORKER * WORKERS
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


def holder(process: int, local_port: int) -> int | None:
    """The process of a family that has accepted the connection from a local port; None before it has."""
    ending = f":{local_port:04X}"
    lines = Path("/proc/net/tcp").read_text(encoding="ascii").splitlines()[1:]
    inodes = {f"socket:[{line.split()[9]}]" for line in lines if line.split()[2].endswith(ending)}
    for member in family(process):
        for descriptor in Path(f"/proc/{member}/fd").iterdir():
            with suppress(FileNotFoundError):
                if str(descriptor.readlink()) in inodes:
                    return member
    return None


def spread_connections(
    server: run.Server, workers: int, open_connection: Callable[[], socket.socket]
) -> list[socket.socket]:
    """Connections of which each worker has as many as the others.

    The kernel may give all of them to one worker, so a worker that has enough stands still meanwhile.
    """
    kept: dict[int, list[socket.socket]] = {}
    wanted = CONNECTIONS // workers
    paused: list[int] = []
    try:
        for _ in range(CONNECTIONS):
            connected = open_connection()
            deadline = time.perf_counter() + 1
            while (member := holder(server.pid, connected.getsockname()[1])) is None:
                assert time.perf_counter() < deadline, "Nobody has accepted a connection."
            kept.setdefault(member, []).append(connected)
            if len(kept[member]) == wanted and workers > 1:
                os.kill(member, signal.SIGSTOP)
                paused.append(member)
    finally:
        for member in paused:
            os.kill(member, signal.SIGCONT)
    # In turn: no worker is asked twice in a row.
    return [connected for turn in zip(*kept.values(), strict=True) for connected in turn]


class Asking:
    """Connections to one server, used in turn."""

    def __init__(self, server: run.Server, workers: int, idle: float) -> None:
        self._process = server.pid
        # What the server takes when nobody asks, in nanoseconds a second.
        self._idle = idle
        self._sockets = spread_connections(
            server, workers, lambda: socket.create_connection(("127.0.0.1", server.port))
        )

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


@dataclass(frozen=True)
class Pair:
    """The same server twice: in one process, and with workers."""

    single: run.Server
    many: run.Server
    # Port -> processor nanoseconds a second when nobody asks.
    idle: Mapping[int, float]

    @classmethod
    def measured_idle(cls, single: run.Server, many: run.Server) -> "Pair":
        """A pair whose idle costs have been measured."""
        return cls(single, many, {server.port: idle_nanoseconds(server) for server in (single, many)})

    def ratio(self, wire: bytes, total: int, *, many_first: bool) -> float:
        """The cost of a request with workers as a multiple of that in one process."""
        costs = {}
        for server in (self.many, self.single) if many_first else (self.single, self.many):
            # New connections, as the idle ones are closed.
            workers = WORKERS if server is self.many else 1
            asking = Asking(server, workers, self.idle[server.port])
            costs[server.port] = asking.cost(wire, total)
            asking.close()
        return costs[self.many.port] / costs[self.single.port]


def compare(ours: Pair, bare: Pair, path: str, wire: bytes, total: int) -> tuple[list[float], list[float]]:
    """The ratios of our pair and of the bare servers', measured in turn."""
    found: tuple[list[float], list[float]] = ([], [])
    for number in range(PAIRS):
        # Each is first in every other pair.
        found[0].append(ours.ratio(wire, total, many_first=number % 2 == 0))
        found[1].append(bare.ratio(load.request(path, "x"), CACHED, many_first=number % 2 == 0))
        print(".", end="", flush=True, file=sys.stderr)
    return found


# For wrk: no computed answer is asked for twice.
RANDOM_QUERIES = """
function init() math.randomseed(os.time() * 1000 + tonumber(tostring({}):sub(8), 16) % 100000) end
function request() return wrk.format("GET", wrk.path .. "?n=" .. math.random(1, 2000000000)) end
"""


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


def costs_under_load(ours: Pair, path: str, token: str, *options: str) -> list[tuple[float, float]]:
    """Processor nanoseconds of a request with workers and in one process, pair by pair."""
    costs = []
    for _ in range(PAIRS):
        spent, answered = Counter[int](), Counter[int]()
        for turn in range(LOAD_TURNS):
            # Each is first in every other turn.
            for server in (ours.many, ours.single)[:: 1 if turn % 2 else -1]:
                url = f"http://127.0.0.1:{server.port}{path}"
                nanoseconds, requests = under_load(server, url, token, *options)
                spent[server.port] += nanoseconds
                answered[server.port] += requests
        many, single = (spent[port] / answered[port] for port in (ours.many.port, ours.single.port))
        costs.append((many, single))
        print(".", end="", flush=True, file=sys.stderr)
    return costs


def rows_under_load(ours: Pair, bare: Pair, path: str, token: str, folder: Path) -> Iterator[Row]:
    """Measure with clients who ask as fast as they are answered."""
    if shutil.which("wrk") is None:
        yield Row("under load", "not measured: wrk is not installed", f"<= {RATIO_MAX}", False)
        return
    script = folder / "queries.lua"
    script.write_text(RANDOM_QUERIES, encoding="utf-8")
    for name, options in (("cached", ()), ("computed", ("-s", str(script)))):
        yield from _load_rows(f"{name} read", costs_under_load(ours, path, token, *options), RATIO_MAX)
    yield from _load_rows("bare uvicorn", costs_under_load(bare, path, token), None)


def _load_rows(name: str, costs: Sequence[tuple[float, float]], bound: float | None) -> Iterator[Row]:
    """The ratio, and what a request costs more: more processes than cores cost each server about the same."""
    what = f"{name}, {LOAD_CONNECTIONS} clients at once, {WORKERS} workers : one"
    yield _ratio_row(what, [many / single for many, single in costs], bound)
    single = statistics.median(single for _, single in costs) / 1e3
    more = statistics.median(many - single for many, single in costs) / 1e3
    yield Row(
        f"{name}, in one process and more with workers", f"{single:.1f}, {more:+.1f} us", "reported", True
    )


@contextmanager
def bare_pair(folder: Path, path: str, answer: bytes) -> Iterator[Pair]:
    """Bare uvicorn, in one process and with as many workers, that sends the same bytes as we do."""
    recorded = folder / "answers.json"
    headers = [("content-type", "application/json"), ("content-length", str(len(answer)))]
    body = answer.decode()
    recorded.write_text(
        json.dumps([{"path": path, "status": 200, "headers": headers, "body": body}]), encoding="utf-8"
    )
    with ExitStack() as stack:
        servers = []
        for workers in ((), ("--workers", str(WORKERS))):
            port = run.free_port()
            command = [*run.uvicorn_command("raw_app:app", port), *workers]
            environment = {"SILVERBALL_BENCH_ANSWERS": str(recorded)}
            servers.append(stack.enter_context(run.running_server(command, port, path, **environment)))
        yield Pair.measured_idle(*servers)


def delivery_seconds(server: run.Server, tournament_id: int, token: str) -> list[float]:
    """The times from an acknowledged commit to each of several sockets, of which every worker has some."""
    seconds = []
    port = server.port
    with ExitStack() as stack:
        url = f"ws://127.0.0.1:{port}{SOCKET}"
        connections = spread_connections(
            server, WORKERS, lambda: socket.create_connection(("127.0.0.1", port))
        )
        followers = [stack.enter_context(connect(url, sock=opened)) for opened in connections]
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
        ours = Pair.measured_idle(*servers)
        shares = [f"{ours.idle[server.port] / 1e7:.1f} %" for server in servers]
        yield Row(f"idle, one and {WORKERS} workers, of a core", ", ".join(shares), "none", True)
        night = {"name": "Night", "type": "matchplay"}
        answer = _send(ours.single.port, "/api/tournaments", token, "POST", night)
        tournament_id = msgspec.json.decode(answer)["data"]["tournamentId"]
        path = f"/api/tournaments/{tournament_id}"
        bare = stack.enter_context(bare_pair(folder, path, answer))
        yield from rows_under_load(ours, bare, path, token, folder)
        for name, wire, total in (
            ("cached", load.request(path, token), CACHED),
            ("computed", load.request(f"{path}?n=NUMBER", token), COMPUTED),
        ):
            ratios, bare_ratios = compare(ours, bare, path, wire, total)
            yield _ratio_row(f"{name} read, one at a time, {WORKERS} workers : one", ratios, None)
            yield _ratio_row(f"bare uvicorn beside it, {WORKERS} workers : one", bare_ratios, None)
            against = [ratio / theirs for ratio, theirs in zip(ratios, bare_ratios, strict=True)]
            yield _ratio_row(f"{name} read, the first as a multiple of the second", against, None)
        seconds = delivery_seconds(ours.many, tournament_id, token)
        late = seconds[int(len(seconds) * 0.95)]
        measured = f"{statistics.median(seconds) * 1e3:.1f} ms, p95 {late * 1e3:.1f} ms"
        yield Row("commit to the sockets of all workers", measured, "p95 <= 50 ms", late <= SECONDS_MAX)


def _ratio_row(what: str, ratios: Sequence[float], bound: float | None) -> Row:
    low, middle, high = min(ratios), statistics.median(ratios), max(ratios)
    measured = f"{low:.2f} / {middle:.2f} / {high:.2f}"
    if bound is None:
        return Row(what, measured, "reported", is_met=True)
    return Row(what, measured, f"<= {bound:.2f}", middle <= bound)


def main() -> int:
    """Measure and print; the exit code."""
    with tempfile.TemporaryDirectory() as folder:
        measured = list(rows(Path(folder)))
    print(run.table(measured))
    return 0 if all(row.is_met for row in measured) else 1


if __name__ == "__main__":
    sys.exit(main())
