"""`make bench`: the service against the raw limit and against its peer, alternating, per CPU second.

Every ratio is the median over the rounds of one run: ours and theirs are measured in turn, so a
noisy neighbour hits both. Prints the table of docs/performance.md.
"""

import asyncio
import importlib
import json
import os
import platform
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import load
import world

# Headers that uvicorn adds by itself, to ours and to the raw app's answers.
SERVERS_OWN = frozenset({"date", "server", "connection"})
ROUNDS = 7
REQUESTS_CACHED = 12_000
REQUESTS_UNCACHED = 400
BIN = Path(sys.executable).parent
HERE = Path(__file__).parent
BASE = f"/api/tournaments/{world.TOURNAMENT_ID}"
PATHS = {
    "standings": f"{BASE}/standings",
    "tournament": f"{BASE}?includePlayers=true",
    "games": f"{BASE}/games",
}


@dataclass(frozen=True)
class Server:
    """A server that is running."""

    port: int
    pid: int
    started_seconds: float


@dataclass(frozen=True)
class Row:
    """One line of the table."""

    what: str
    measured: str
    bound: str
    is_met: bool


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def running_server(command: list[str], port: int, path: str, **environment: str) -> Iterator[Server]:
    began = time.perf_counter()
    process = subprocess.Popen(
        command,
        env={**os.environ, **environment},
        cwd=HERE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        _await_answer(port, path, process)
        yield Server(port, process.pid, time.perf_counter() - began)
    finally:
        process.terminate()
        process.wait(20)


def _await_answer(port: int, path: str, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        if process.poll() is not None:
            raise RuntimeError(f"the server on port {port} ended with {process.returncode}")
        try:
            with socket.create_connection(("127.0.0.1", port), timeout=0.2) as probe:
                probe.sendall(f"GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".encode())
                if probe.recv(12):
                    return
        except OSError:
            time.sleep(0.005)
    raise RuntimeError(f"nothing answers on port {port}")


def uvicorn_command(app: str, port: int) -> list[str]:
    options = ["--log-level", "critical", "--no-access-log", "--loop", "uvloop", "--http", "httptools"]
    return [str(BIN / "uvicorn"), app, "--host", "127.0.0.1", "--port", str(port), *options]


def silverball(*words: str, folder: Path) -> str:
    return silverball_on({"SILVERBALL_DATABASE_URL": f"sqlite:///{folder / 'bench.db'}"}, *words)


def silverball_on(environment: dict[str, str], *words: str) -> str:
    """The output of a command with these variables."""
    done = subprocess.run(
        [str(BIN / "silverball"), *words],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip()


def prepare(folder: Path) -> str:
    """A database with the measured night; returns a token."""
    bundle = folder / "night.json"
    bundle.write_text(json.dumps(world.bundle()), encoding="utf-8")
    silverball("migrate", folder=folder)
    created = silverball(
        "user",
        "create",
        "--name",
        "Bench Reader",
        "--email",
        "bench@example.org",
        "--role",
        "player",
        "--json",
        folder=folder,
    )
    token = silverball(
        "token", "create", "--user", str(json.loads(created)["userId"]), "--name", "bench", folder=folder
    )
    silverball("import", "bundle", str(bundle), folder=folder)
    return token


def fetch(port: int, path: str, token: str, etag: str | None = None) -> dict[str, Any]:
    headers = {"Authorization": f"Bearer {token}", **({"If-None-Match": etag} if etag else {})}
    request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", headers=headers)
    try:
        with urllib.request.urlopen(request, timeout=10) as got:
            return {"status": got.status, "headers": got.headers.items(), "body": got.read().decode()}
    except urllib.error.HTTPError as error:
        return {"status": error.code, "headers": error.headers.items(), "body": error.read().decode()}


def record_answers(port: int, token: str, paths: Iterable[str]) -> list[dict[str, Any]]:
    """The answers the raw app repeats, and the 304 after each: the same bytes, the same headers."""
    answers = []
    for path in paths:
        full = fetch(port, path, token)
        same = fetch(port, path, token, dict(full["headers"])["etag"])
        for answer in (full, same):
            headers = [(name, value) for name, value in answer["headers"] if name not in SERVERS_OWN]
            answers.append({**answer, "headers": headers, "path": path.partition("?")[0]})
    return answers


def _compare_costs(
    ours: Server, theirs: Server, wires: tuple[bytes, bytes], total: int, status: int = 200
) -> float:
    """Our requests per CPU second as a multiple of theirs."""
    for server, wire in zip((ours, theirs), wires, strict=True):
        load.measure_cost(server.port, server.pid, wire, max(total // 10, 64), status=status)
    our_costs, their_costs = [], []
    for _ in range(ROUNDS):
        our_costs.append(load.measure_cost(ours.port, ours.pid, wires[0], total, status=status))
        their_costs.append(load.measure_cost(theirs.port, theirs.pid, wires[1], total, status=status))
        print(".", end="", flush=True, file=sys.stderr)
    return load.ratio(our_costs, their_costs)


def _cached_rows(folder: Path, token: str, environment: dict[str, str]) -> Iterator[Row]:
    port, raw_port = free_port(), free_port()
    serve = [str(BIN / "silverball"), "serve", "--create", "--host", "127.0.0.1", "--port", str(port)]
    with running_server(serve, port, "/up", **environment) as ours:
        yield Row("start to first answer", f"{ours.started_seconds:.2f} s", "< 1 s", ours.started_seconds < 1)
        memory = load.resident_megabytes(ours.pid)
        yield Row("memory after start", f"{memory:.0f} MB", "< 80 MB", memory < 80)
        answers = record_answers(port, token, PATHS.values())
        recorded = folder / "answers.json"
        recorded.write_text(json.dumps(answers), encoding="utf-8")
        raw = uvicorn_command("raw_app:app", raw_port)
        with running_server(
            raw, raw_port, f"{BASE}/standings", SILVERBALL_BENCH_ANSWERS=str(recorded)
        ) as limit:
            for name, bound in (("standings", 1.2), ("tournament", 1.2), ("games", 1.0)):
                wire = load.request(PATHS[name], token)
                got = _compare_costs(ours, limit, (wire, wire), REQUESTS_CACHED)
                yield Row(f"cached {name} : raw", f"{got:.2f}", f">= {bound}", got >= bound)
            etag = dict(answers[0]["headers"])["etag"]
            wire = load.request(PATHS["standings"], token, etag=etag)
            got = _compare_costs(ours, limit, (wire, wire), REQUESTS_CACHED * 2, status=304)
            yield Row("304 : raw 304", f"{got:.2f}", ">= 1.2", got >= 1.2)


def _uncached_rows(folder: Path, token: str, environment: dict[str, str]) -> Iterator[Row]:
    port, peer_port = free_port(), free_port()
    serve = [str(BIN / "silverball"), "serve", "--create", "--host", "127.0.0.1", "--port", str(port)]
    with running_server(serve, port, "/up", **environment) as ours:
        answers = {name: json.loads(fetch(port, path, token)["body"]) for name, path in PATHS.items()}
        peer_url = f"sqlite+aiosqlite:///{folder / 'peer.db'}"
        _fill_peer(peer_url, answers)
        peer = uvicorn_command("peer_app:app", peer_port)
        with running_server(peer, peer_port, "/docs", SILVERBALL_BENCH_PEER_URL=peer_url) as theirs:
            for name, path in PATHS.items():
                if json.loads(fetch(peer_port, path, token)["body"]) != answers[name]:
                    raise RuntimeError(f"the peer answers something else for {name}")
            for name, bound in (("tournament", 9), ("standings", 6), ("games", 8)):
                # No two requests are equal, so none can share what another one computed.
                path = PATHS[name] + ("&" if "?" in PATHS[name] else "?") + "n=NUMBER"
                wire = load.request(path, token)
                got = _compare_costs(ours, theirs, (wire, wire), REQUESTS_UNCACHED)
                yield Row(f"uncached {name} : peer", f"{got:.1f}", f">= {bound}", got >= bound)


def _fill_peer(url: str, answers: dict[str, Any]) -> None:
    os.environ["SILVERBALL_BENCH_PEER_URL"] = url
    # Imported by name, because the peer's libraries are missing where the code is only checked.
    peer_app = importlib.import_module("peer_app")
    asyncio.run(peer_app.fill(answers))
    asyncio.run(peer_app.engine.dispose())


def main() -> int:
    """Measure, print the table, and say by the exit code whether every bound is met."""
    rows = []
    with tempfile.TemporaryDirectory(prefix="silverball-bench-") as name:
        folder = Path(name)
        token = prepare(folder)
        environment = {
            "SILVERBALL_DATABASE_URL": f"sqlite:///{folder / 'bench.db'}",
            "SILVERBALL_QUOTAS": "open",
            "SILVERBALL_BASE_URL": "http://127.0.0.1:8000",
        }
        for part in (_cached_rows, _uncached_rows):
            for row in part(folder, token, environment):
                rows.append(row)
                print(f"\r{row.what}: {row.measured} ({row.bound})", file=sys.stderr)
    print(table(rows))
    return 0 if all(row.is_met for row in rows) else 1


def measure(rows_in: Callable[[Path], Iterable[Row]]) -> int:
    """Measure in a folder of its own, print the table, and return whether a bound was missed."""
    rows = []
    with tempfile.TemporaryDirectory(prefix="silverball-bench-") as name:
        for row in rows_in(Path(name)):
            rows.append(row)
            print(f"{row.what}: {row.measured} ({row.bound})", file=sys.stderr)
    print(table(rows))
    return 0 if all(row.is_met for row in rows) else 1


def table(rows: list[Row]) -> str:
    """The table of docs/performance.md."""
    machine = f"{os.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}"
    head = f"\nMeasured {datetime.now(UTC):%Y-%m-%d} on {machine}.\n\n"
    head += "| what | measured | bound | met |\n|---|---|---|---|\n"
    lines = (
        f"| {row.what} | {row.measured} | {row.bound} | {'yes' if row.is_met else 'NO'} |" for row in rows
    )
    return head + "\n".join(lines)


if __name__ == "__main__":
    raise SystemExit(main())
