"""The cache's budget against the memory of the process: whether kept answers really stay within it.

Each server is first asked until nothing more is loaded, then for twice the budget in different answers;
another one is asked with many long heads, which have an eighth of it. Linux only. Prints a table; exit code
1 when the memory grew by more than the budget and the margin.
"""

import socket
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import load
import run
from run import BASE, BIN, Row

# That of every site.
BUDGET_MEGABYTES = 64
# What the memory may grow beside the budget: a tenth for objects that are estimated, and as much again for
# pages of the allocator that are half empty; and the garbage of the requests themselves.
MARGIN_SHARE, MARGIN_MEGABYTES = 0.2, 4.0
TIMES_OVER = 2
WARMING = 400
# Kind -> path, and about how many bytes of the budget an answer of the measured night takes.
ANSWERS = {
    "small answers": (f"{BASE}?n=NUMBER", 5_000),
    "large answers": (f"{BASE}/games?n=NUMBER", 78_000),
}
# An eighth of the budget is for the heads of requests, at most 64 for each address.
ADDRESSES, HEADS_EACH = 48, 64
FILLING = "x" * 1_500


def _serve(port: int) -> list[str]:
    return [str(BIN / "silverball"), "serve", "--host", "127.0.0.1", "--port", str(port)]


def _settings(folder: Path) -> dict[str, str]:
    return {
        "SILVERBALL_DATABASE_URL": f"sqlite:///{folder / 'bench.db'}",
        "SILVERBALL_QUOTAS": "open",
    }


def _answers_grown(folder: Path, token: str, path: str, answer_bytes: int) -> float:
    """The megabytes that a server grows by over answers of one kind."""
    port = run.free_port()
    with run.running_server(_serve(port), port, "/up", **_settings(folder)) as server:
        # A query of its own: what is kept here is dropped first.
        load.measure_cost(port, server.pid, load.request(path.replace("?n", "?w"), token), WARMING)
        before = load.resident_megabytes(server.pid)
        # What was kept while warming up counts in the budget, and in the memory before.
        kept = min(WARMING * answer_bytes / 1e6, BUDGET_MEGABYTES)
        total = int(TIMES_OVER * BUDGET_MEGABYTES * 1e6 / answer_bytes)
        load.measure_cost(port, server.pid, load.request(path, token), total)
        return load.resident_megabytes(server.pid) - before + kept


def _heads_grown(folder: Path, token: str) -> float:
    """The megabytes that a server grows by over heads of requests that come again from many addresses."""
    port = run.free_port()
    with run.running_server(_serve(port), port, "/up", **_settings(folder)) as server:
        load.measure_cost(port, server.pid, load.request(f"{BASE}?w=NUMBER", token), WARMING)
        before = load.resident_megabytes(server.pid)
        for number in range(ADDRESSES):
            source = (f"127.0.0.{number + 2}", 0)
            with socket.create_connection(("127.0.0.1", port), source_address=source) as asking:
                for head in range(HEADS_EACH):
                    wire = load.request(f"{BASE}?h={head}", token)
                    wire = wire.replace(b"load/1", f"{FILLING}{number}".encode())
                    for _ in range(3):
                        _exchange(asking, wire)
        return load.resident_megabytes(server.pid) - before


def _exchange(connected: socket.socket, wire: bytes) -> None:
    """Send a request, and read its whole answer."""
    connected.sendall(wire)
    received = b""
    while b"\r\n\r\n" not in received:
        received += connected.recv(65_536)
    head, _, body = received.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 200"), head
    length = int(head.lower().partition(b"content-length: ")[2].split(b"\r\n")[0])
    while len(body) < length:
        body += connected.recv(65_536)


def rows(folder: Path) -> Iterator[Row]:
    """Measure, kind by kind."""
    token = run.prepare(folder)
    limit = BUDGET_MEGABYTES * (1 + MARGIN_SHARE) + MARGIN_MEGABYTES
    for kind, (path, answer_bytes) in ANSWERS.items():
        grown = _answers_grown(folder, token, path, answer_bytes)
        what = f"memory with a budget of {BUDGET_MEGABYTES} MB, {kind}, {TIMES_OVER} times over"
        yield Row(what, f"{grown:.1f} MB", f"<= {limit:.1f} MB", grown <= limit)
    heads_limit = BUDGET_MEGABYTES / 8 * (1 + MARGIN_SHARE) + MARGIN_MEGABYTES
    grown = _heads_grown(folder, token)
    what = f"memory with an eighth of it for heads, {ADDRESSES * HEADS_EACH:,} of them"
    yield Row(what, f"{grown:.1f} MB", f"<= {heads_limit:.1f} MB", grown <= heads_limit)


def main() -> int:
    """Measure and print; the exit code."""
    with tempfile.TemporaryDirectory(prefix="silverball-bench-") as folder:
        measured = list(rows(Path(folder)))
    print(run.table(measured))
    return 0 if all(row.is_met for row in measured) else 1


if __name__ == "__main__":
    sys.exit(main())
