"""`make bench`: events to a thousand sockets, against Starlette and against `websockets`' own broadcast.

The events are those of a real night: some changes announce one event, others several at once. Single
events are measured as well, also against one bare system call for each delivery.

Deliveries are counted per CPU second of the server, in turn for ours and the peer; times of arrival are
taken by another process, which reads raw sockets. Prints the table of docs/performance.md.
"""

import json
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import feed_servers
import load
from run import BIN, Row, free_port, running_server, silverball, table
from silverball.feed.messages import FrameEncoding, encode_text

HERE = Path(__file__).parent
PATH = "/app/silverball?protocol=7&client=js&version=8.5.0&flash=false"
CHANNEL = f"tournaments.{feed_servers.TOURNAMENT_ID}"
FRAME_BYTES = len(encode_text(b"x" * feed_servers.TEXT_BYTES, FrameEncoding("plain")))
SUBSCRIBERS = 1_000
IDLE = 10_000
IDLE_KILOBYTES_MAX = 6.0
# Long enough for a ping to each, which nobody answers.
IDLE_SECONDS = 30
IDLE_CORE_PERCENT_MAX = 2.0
STALLED = 10
ROUNDS = 7
# How many events each change of a night announced: the demo's finished group match play of 12 players,
# from its creation over six rounds to its end. Nights of the 21 formats there have 2.6 on average.
NIGHT = (1, 1, 2, 4, *(1, 1, 1, 5) * 5, 1, 1, 1, 2)
ALONE = (1,) * 28
EVENTS_PER_SECOND = 20
PACED_EVENTS = 100
FEW_EVENTS = 30
EVENTS_TO_CLOG = 4_000
WRITES = 200


@dataclass
class LineProcess:
    """A process that reads commands and answers with JSON, one line each."""

    process: subprocess.Popen[str]

    def request(self, *words: object) -> Any:
        self.send_line(*words)
        return self.read_answer()

    def send_line(self, *words: object) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(" ".join(map(str, words)) + "\n")
        self.process.stdin.flush()

    def read_answer(self) -> Any:
        assert self.process.stdout is not None
        return json.loads(self.process.stdout.readline())


@contextmanager
def line_process(*command: object, **environment: str) -> Iterator[LineProcess]:
    """A started process, killed on leaving."""
    started = subprocess.Popen(
        [sys.executable, *map(str, command)],
        env={**os.environ, **environment},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=HERE,
    )
    try:
        yield LineProcess(started)
    finally:
        started.kill()
        started.wait()


@dataclass
class ServerWithAudience:
    """A server with its audience."""

    server: LineProcess
    audience: LineProcess

    def deliveries_per_cpu_second(self, changes: Sequence[int]) -> float:
        """Deliveries per CPU second, when all clients get the events of a change before the next one."""
        before = self.server.request("cpu")
        for events in changes:
            self.audience.send_line("expect", events, FRAME_BYTES)
            self.server.request("publish", events)
            self.audience.read_answer()
        cpu_seconds = self.server.request("cpu") - before
        return float(sum(changes) * SUBSCRIBERS / cpu_seconds)

    def p99_ms(self, events: int) -> float:
        """The p99 of milliseconds to the sampled connections, at a steady pace of events."""
        self.audience.send_line("expect", events, FRAME_BYTES)
        published = self.server.request("paced", events, EVENTS_PER_SECOND)
        latencies = sorted(
            (arrived - at) / 1e6
            for times in self.audience.read_answer()
            for at, arrived in zip(published, times, strict=True)
        )
        return float(latencies[len(latencies) * 99 // 100])


@contextmanager
def server_with_audience(
    kind: str, *, subscribers: int = SUBSCRIBERS, stalled: int = 0
) -> Iterator[ServerWithAudience]:
    """A server of this kind, with clients that follow its one tournament."""
    port = free_port()
    with ExitStack() as stack:
        server = stack.enter_context(line_process("feed_servers.py", kind, port))
        await_port(port)
        audience = stack.enter_context(
            line_process("feed_receivers.py", port, subscribers, stalled, PATH, CHANNEL)
        )
        audience.read_answer()
        yield ServerWithAudience(server, audience)


def await_port(port: int) -> None:
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        try:
            with socket.create_connection(("127.0.0.1", port), timeout=0.2):
                return
        except OSError:
            time.sleep(0.01)
    raise RuntimeError(f"nothing listens on port {port}")


def _fan_out_rows() -> Iterator[Row]:
    with server_with_audience("ours") as ours:
        for kind, name, bound in (("starlette", "Starlette", 2.5), ("websockets", "broadcast", 1.3)):
            with server_with_audience(kind) as peer:
                night, rates = _compare(ours, peer, NIGHT)
                alone, _ = _compare(ours, peer, ALONE)
            label = f"deliveries per CPU second, ours : {name}"
            yield Row(label, f"{night:.1f}", f">= {bound}", night >= bound)
            yield Row(f"{label}, events that come alone", f"{alone:.2f}", "reported", True)
        yield Row("deliveries per CPU second", f"{rates:,.0f}", "reported", True)
        with server_with_audience("bare") as limit:
            alone, _ = _compare(ours, limit, ALONE)
        label = "events that come alone, ours : one bare system call for each delivery"
        yield Row(label, f"{alone:.2f}", "reported", True)
    with server_with_audience("bare") as limit, server_with_audience("starlette") as peer:
        alone, _ = _compare(limit, peer, ALONE)
    yield Row("one bare system call for each delivery : Starlette", f"{alone:.2f}", "reported", True)


def _compare(
    ours: ServerWithAudience, peer: ServerWithAudience, changes: Sequence[int]
) -> tuple[float, float]:
    """Our deliveries per CPU second: as a multiple of the peer's, and as a number."""
    ratios, own = [], []
    for _ in range(ROUNDS):
        own.append(ours.deliveries_per_cpu_second(changes))
        ratios.append(own[-1] / peer.deliveries_per_cpu_second(changes))
    return statistics.median(ratios), statistics.median(own)


def _memory_rows() -> Iterator[Row]:
    port = free_port()
    with line_process("feed_servers.py", "ours", port) as server:
        await_port(port)
        # One connection first, because the modules that it loads belong to the program.
        with line_process("feed_receivers.py", port, 1, 0, PATH, CHANNEL) as first:
            first.read_answer()
            before = load.resident_megabytes(server.process.pid)
            with line_process("feed_receivers.py", port, IDLE, 0, PATH, CHANNEL) as audience:
                audience.read_answer()
                grown = (load.resident_megabytes(server.process.pid) - before) * 1024 / IDLE
                began = load.cpu_seconds(server.process.pid)
                time.sleep(IDLE_SECONDS)
                busy = (load.cpu_seconds(server.process.pid) - began) / IDLE_SECONDS * 100
    yield Row(
        f"memory for each of {IDLE:,} idle connections",
        f"{grown:.1f} KB",
        f"<= {IDLE_KILOBYTES_MAX:g} KB",
        grown <= IDLE_KILOBYTES_MAX,
    )
    yield Row(
        f"{IDLE:,} idle connections, of a core",
        f"{busy:.1f} %",
        f"<= {IDLE_CORE_PERCENT_MAX:g} %",
        busy <= IDLE_CORE_PERCENT_MAX,
    )


def _latency_rows() -> Iterator[Row]:
    with server_with_audience("ours") as ours:
        p99 = statistics.median(ours.p99_ms(PACED_EVENTS) for _ in range(ROUNDS))
    yield Row("p99 at 20,000 deliveries a second", f"{p99:.1f} ms", "< 40 ms", p99 < 40)
    with server_with_audience("ours") as alone, server_with_audience("ours", stalled=STALLED) as beside:
        # More than the system buffers for a client that does not read.
        beside.deliveries_per_cpu_second((EVENTS_TO_CLOG,))
        lagging = beside.server.request("stats")["lagging"]
        if lagging != STALLED:
            raise RuntimeError(f"{lagging} of {STALLED} lag")
        # Stalled clients are disconnected after half a minute, so it must be over by then.
        pairs = [(alone.p99_ms(FEW_EVENTS), beside.p99_ms(FEW_EVENTS)) for _ in range(ROUNDS)]
    ratio = statistics.median(beside_ms / alone_ms for alone_ms, beside_ms in pairs)
    yield Row(f"p99 beside {STALLED} stalled readers : p99 alone", f"{ratio:.2f}", "<= 1.2", ratio <= 1.2)


def _commit_rows() -> Iterator[Row]:
    """Latency from an HTTP write to its event at the last of all subscribers."""
    with tempfile.TemporaryDirectory(prefix="silverball-bench-") as name:
        folder, port = Path(name), free_port()
        token = create_organizer(folder)
        serve = [str(BIN / "silverball"), "serve", "--create", "--host", "127.0.0.1", "--port", str(port)]
        environment = {
            "SILVERBALL_DATABASE_URL": f"sqlite:///{folder / 'bench.db'}",
            "SILVERBALL_QUOTAS": "open",
        }
        with running_server(serve, port, "/up", **environment):
            body = {"name": "Bench", "type": "manual_matchplay"}
            created = send(port, token, "POST", "/api/tournaments", body)
            path = f"/api/tournaments/{created['tournamentId']}"
            channel = f"tournaments.{created['tournamentId']}"
            with line_process("feed_receivers.py", port, SUBSCRIBERS, 0, PATH, channel) as audience:
                audience.read_answer()
                latencies = sorted(
                    _timed_write(port, token, path, number, audience) for number in range(WRITES)
                )
    p99 = latencies[len(latencies) * 99 // 100]
    yield Row(f"p99 of a write to the last of {SUBSCRIBERS:,}", f"{p99:.0f} ms", "< 60 ms", p99 < 60)


def create_organizer(folder: Path) -> str:
    """A token with the ability `manage`, in a new database."""
    silverball("migrate", folder=folder)
    words = ["--name", "Bench", "--email", "bench@example.org", "--role", "organizer", "--json"]
    user_id = str(json.loads(silverball("user", "create", *words, folder=folder))["userId"])
    words = ["--user", user_id, "--name", "bench", "--ability", "manage"]
    return silverball("token", "create", *words, folder=folder)


def _timed_write(port: int, token: str, path: str, number: int, audience: LineProcess) -> float:
    audience.send_line("last", 1)
    began = time.monotonic_ns()
    send(port, token, "PATCH", path, {"name": f"Bench {number}"})
    return float((audience.read_answer() - began) / 1e6)


def send(port: int, token: str, method: str, path: str, body: dict[str, Any]) -> Any:
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    request = urllib.request.Request(
        f"http://127.0.0.1:{port}{path}", json.dumps(body).encode(), headers, method=method
    )
    with urllib.request.urlopen(request, timeout=20) as answer:
        return json.loads(answer.read())["data"]


def main() -> int:
    """Measure, print the table, and say by the exit code whether every bound is met."""
    rows = []
    for part in (_fan_out_rows, _memory_rows, _latency_rows, _commit_rows):
        for row in part():
            rows.append(row)
            print(f"{row.what}: {row.measured} ({row.bound})", file=sys.stderr)
    print(table(rows))
    return 0 if all(row.is_met for row in rows) else 1


if __name__ == "__main__":
    raise SystemExit(main())
