"""Attacks on the open port, from one machine without an account, and what they cost a server.

Each is sent four times to a server of its own that trusts no proxy and has 256 descriptors. What a repeat
adds to the memory (the median of the last three) is what an attacker could go on adding. The allocator may
need more than the first to hold all that is allowed in flight: an attack whose repeats still add is sent up
to six times more, which a leak survives. Meanwhile another person asks for tournaments.

    PYTHONPATH=src:tests python -m stories.attacks     prints the table of docs/security.md
"""

import asyncio
import contextlib
import itertools
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path

import click

from silverball.kit.edge.bounded_http import LINGER_SECONDS

DESCRIPTORS = 256
# A client that is refused is gone; one that is not stops here.
BYTES_PER_CONNECTION = 4_000_000
SECONDS = 2.5
CONNECTIONS = 50
REPEATS = 3
REPEATS_MAX = 9
# A repeat that adds no more has found the memory that it needs.
SETTLED_MB = 1.0
READY_SECONDS = 60
LINE = b"X-Filler: " + b"x" * 60_000 + b"\r\n"
REQUEST = b"GET /ready HTTP/1.1\r\nHost: x\r\n\r\n"
CHUNKED = b"POST /account/sign-in HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n"
Attack = Callable[[int], Awaitable[None]]


@dataclass(frozen=True, kw_only=True)
class Cost:
    """What an attack left behind: memory in MB, descriptors (those of the database in all), and times.

    Times are milliseconds at the 95th percentile.
    """

    first_mb: float
    repeat_mb: float
    descriptors: int
    database_descriptors: int
    statuses: frozenset[int]
    idle_ms: float
    busy_ms: float


async def _flood(port: int, beginning: bytes, piece: bytes) -> None:
    """Send the same piece again and again on each connection, until the server hangs up.

    The first piece is within the limits. All wait until each has sent it, so that the server holds all
    of them at the same time, each time.
    """
    together = asyncio.Barrier(CONNECTIONS)
    await asyncio.gather(*[_flood_connection(port, beginning, piece, together) for _ in range(CONNECTIONS)])


async def _flood_connection(port: int, beginning: bytes, piece: bytes, together: asyncio.Barrier) -> None:
    with contextlib.suppress(OSError, TimeoutError, asyncio.BrokenBarrierError):
        async with asyncio.timeout(SECONDS), _connection(port) as (_, writer):
            writer.write(beginning + piece)
            await writer.drain()
            await together.wait()
            for _ in range(BYTES_PER_CONNECTION // len(piece)):
                writer.write(piece)
                await writer.drain()


async def _trickle(port: int, beginning: bytes, piece: bytes, pause: float) -> None:
    """Send a piece now and then, as long as the server lets it."""
    with contextlib.suppress(OSError, TimeoutError):
        async with asyncio.timeout(SECONDS), _connection(port) as (_, writer):
            writer.write(beginning)
            while True:
                writer.write(piece)
                await writer.drain()
                await asyncio.sleep(pause)


@asynccontextmanager
async def _connection(port: int) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        yield reader, writer
    finally:
        writer.transport.abort()


async def endless_heads(port: int) -> None:
    """Endless headers on the second request of each of 50 connections."""
    await _flood(port, REQUEST + REQUEST[:-2], LINE)


async def endless_addresses(port: int) -> None:
    """An address without an end on each of 50 connections."""
    await _flood(port, b"GET /", b"a" * 60_000)


async def endless_trailers(port: int) -> None:
    """Endless trailers after a chunked body on each of 50 connections."""
    await _flood(port, CHUNKED, LINE)


async def anonymous_bodies(port: int) -> None:
    """200 bodies of a megabyte without a token, each but for its last byte."""
    head = b"POST /api/tournaments HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n"
    await asyncio.gather(*[_trickle(port, head, b"x" * 999_999, SECONDS) for _ in range(200)])


async def trickled_sign_ins(port: int) -> None:
    """280 sign-ins whose forms come a byte at a time, more than the server has descriptors for."""
    head = b"POST /account/sign-in HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n"
    await asyncio.gather(*[_trickle(port, head, b"a", 0.5) for _ in range(280)])


async def heads_that_do_not_end(port: int) -> None:
    """280 connections that send nothing but the beginning of a request."""
    await asyncio.gather(*[_trickle(port, b"GET /ready HTTP/1.1\r\n", b"X", 1.0) for _ in range(280)])


ATTACKS: dict[str, Attack] = {
    attack.__name__: attack
    for attack in (
        endless_heads,
        endless_addresses,
        endless_trailers,
        anonymous_bodies,
        trickled_sign_ins,
        heads_that_do_not_end,
    )
}


@contextmanager
def attacked_server(folder: Path) -> Iterator[tuple[int, int]]:
    """Start a server with few descriptors that takes loopback for anybody; yields port and process id."""
    serve = f"ulimit -n {DESCRIPTORS}; exec {sys.executable} -m silverball.cli.main serve --create --port 0"
    environment = {
        **os.environ,
        "SILVERBALL_DATABASE_URL": f"sqlite:///{folder / 'silverball.db'}",
        "SILVERBALL_SECRET_FILE": str(folder / "secret"),
        "SILVERBALL_TRUSTED_PROXIES": "",
        "SILVERBALL_PUBLIC_READ": "1",
        "SILVERBALL_QUOTAS": "open",
    }
    log = folder / "log"
    with log.open("w") as out:
        process = subprocess.Popen(["sh", "-c", serve], env=environment, stdout=out, stderr=out)
    try:
        yield _port(log, process), process.pid
    finally:
        process.kill()
        process.wait()


def _port(log: Path, process: subprocess.Popen[bytes]) -> int:
    started = time.monotonic()
    while time.monotonic() - started < READY_SECONDS and process.poll() is None:
        if found := re.search(r"http://127\.0\.0\.1:([1-9]\d*)", log.read_text()):
            return int(found[1])
        time.sleep(0.05)
    raise AssertionError(log.read_text())


def memory_mb(process_id: int) -> float:
    for line in Path(f"/proc/{process_id}/status").read_text().splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1]) / 1024
    raise AssertionError


def open_descriptors(process_id: int) -> tuple[int, int]:
    """Descriptors of files of the database, whose pool fills by and by, and all others."""
    targets = []
    for descriptor in Path(f"/proc/{process_id}/fd").iterdir():
        # One may be closed while they are listed.
        with contextlib.suppress(FileNotFoundError):
            targets.append(str(descriptor.readlink()))
    of_database = sum("silverball.db" in target for target in targets)
    return of_database, len(targets) - of_database


async def ask_as_another(port: int, until: asyncio.Event | None = None) -> tuple[set[int], list[float]]:
    """Statuses and milliseconds of requests over a kept connection: 100, or until something has ended."""
    statuses: set[int] = set()
    times: list[float] = []
    async with _connection(port) as (reader, writer):
        while (len(times) < 100) if until is None else not until.is_set():
            started = time.perf_counter()
            writer.write(b"GET /api/tournaments HTTP/1.1\r\nHost: x\r\n\r\n")
            head = await reader.readuntil(b"\r\n\r\n")
            length = next(line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length"))
            await reader.readexactly(int(length.split(b":")[1]))
            times.append((time.perf_counter() - started) * 1000)
            statuses.add(int(head.split(b" ")[1]))
            await asyncio.sleep(0.01)
    return statuses, times


def added_by_a_repeat(left: Sequence[float]) -> float:
    """Say what a repeat added: the median of the last three."""
    return statistics.median(later - earlier for earlier, later in itertools.pairwise(left[-1 - REPEATS :]))


def cost_of(attack: Attack, folder: Path) -> Cost:
    """Send the attack to a new server, and repeat it."""

    async def trial(port: int, process_id: int) -> Cost:
        statuses, idle = await ask_as_another(port)
        before = memory_mb(process_id)
        left: list[float] = []
        busy: list[float] = []
        descriptors: list[tuple[int, int]] = []
        while len(left) <= REPEATS or (len(left) <= REPEATS_MAX and added_by_a_repeat(left) > SETTLED_MB):
            done = asyncio.Event()
            another = asyncio.ensure_future(ask_as_another(port, done))
            await asyncio.sleep(0.1)
            await attack(port)
            done.set()
            found, times = await another
            statuses |= found
            busy += times
            await asyncio.sleep(LINGER_SECONDS + 1.5)
            left.append(memory_mb(process_id))
            descriptors.append(open_descriptors(process_id))
        return Cost(
            first_mb=left[0] - before,
            repeat_mb=added_by_a_repeat(left),
            descriptors=descriptors[-1][1] - descriptors[0][1],
            database_descriptors=descriptors[-1][0],
            statuses=frozenset(statuses),
            idle_ms=statistics.quantiles(idle, n=20)[-1],
            busy_ms=statistics.quantiles(busy, n=20)[-1],
        )

    with attacked_server(folder) as (port, process_id):
        return asyncio.run(trial(port, process_id))


def main() -> None:
    """Print the table."""
    click.echo("| attack | left by the first | added by a repeat | p95 idle | p95 meanwhile |")
    click.echo("|---|---|---|---|---|")
    for attack in ATTACKS.values():
        with tempfile.TemporaryDirectory() as folder:
            cost = cost_of(attack, Path(folder))
        click.echo(
            f"| {str(attack.__doc__).removesuffix('.')} | {cost.first_mb:.1f} MB | {cost.repeat_mb:.1f} MB"
            f" | {cost.idle_ms:.0f} ms | {cost.busy_ms:.0f} ms |",
        )


if __name__ == "__main__":
    main()
