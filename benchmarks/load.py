"""A load of equal requests over kept-alive connections, and its cost in CPU time of the server.

The server's CPU seconds are read from the operating system, so a noisy neighbour changes how long a
run takes but hardly what it costs. The generator is its own process, beside the server.
"""

import asyncio
import itertools
import statistics
import time
from dataclasses import dataclass
from pathlib import Path

CONNECTIONS = 32
# Replaced by a new number in every request, so that no two requests are equal.
NUMBER = b"NUMBER"


@dataclass(frozen=True)
class Cost:
    """The cost of a number of requests."""

    requests: int
    cpu_seconds: float

    @property
    def per_cpu_second(self) -> float:
        return self.requests / self.cpu_seconds


class _Connection(asyncio.Protocol):
    """Sends one request after the other and counts whole answers."""

    def __init__(self, request: bytes, counter: "_Counter") -> None:
        self._before, mark, self._after = request.partition(NUMBER)
        self._is_numbered = bool(mark)
        self._counter = counter
        self._buffer = bytearray()
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        transport.write(self._next_request())

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        assert self._transport is not None
        while (length := _answer_length(self._buffer)) and len(self._buffer) >= length:
            self._counter.check(self._buffer)
            del self._buffer[:length]
            if self._counter.take():
                self._transport.write(self._next_request())
            else:
                self._transport.close()

    def _next_request(self) -> bytes:
        if not self._is_numbered:
            return self._before
        return self._before + b"%08d" % self._counter.number() + self._after

    def connection_lost(self, exc: Exception | None) -> None:
        self._counter.connection_closed()


class _Counter:
    _numbers = itertools.count()

    def __init__(self, total: int, status: bytes) -> None:
        self._remaining = total
        self._open = CONNECTIONS
        self._status = status
        self.done: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def check(self, answer: bytearray) -> None:
        if answer[9:12] != self._status and not self.done.done():
            self.done.set_exception(RuntimeError(f"unexpected answer: {bytes(answer[:300])!r}"))

    def take(self) -> bool:
        self._remaining -= 1
        return self._remaining >= 0

    def number(self) -> int:
        return next(self._numbers)

    def connection_closed(self) -> None:
        self._open -= 1
        if self._open or self.done.done():
            return
        if self._remaining > -CONNECTIONS:
            self.done.set_exception(RuntimeError("the server closed the connections"))
        else:
            self.done.set_result(None)


def _answer_length(buffer: bytearray) -> int:
    """Bytes of the first answer in the buffer, 0 while its head is incomplete."""
    head = buffer.find(b"\r\n\r\n")
    if head < 0:
        return 0
    at = buffer.find(b"content-length: ", 0, head)
    if at < 0:
        return head + 4
    end = buffer.find(b"\r\n", at)
    return head + 4 + int(buffer[at + 16 : end])


def request(path: str, token: str, *, etag: str | None = None) -> bytes:
    """The bytes of one GET as a typical client sends it."""
    lines = [f"GET {path} HTTP/1.1", "Host: 127.0.0.1", f"Authorization: Bearer {token}"]
    lines += ["Accept: application/json", "Content-Type: application/json", "User-Agent: load/1"]
    if etag is not None:
        lines.append(f"If-None-Match: {etag}")
    return "\r\n".join([*lines, "", ""]).encode()


def cpu_seconds(pid: int) -> float:
    """CPU time of a process so far, user and system, all threads; to the nanosecond.

    `/proc/PID/stat` counts in ticks of 10 ms, a twentieth of what a hundred results cost.
    """
    # The number of the clock, as `clock_getcpuclockid` makes it on Linux.
    return time.clock_gettime((~pid << 3) | 2)


def resident_megabytes(pid: int) -> float:
    """Memory of a process now."""
    for line in Path(f"/proc/{pid}/status").read_text(encoding="ascii").splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024
    raise RuntimeError(f"process {pid} is gone")


async def _send(port: int, wire: bytes, total: int, status: bytes) -> None:
    counter = _Counter(total - CONNECTIONS, status)
    loop = asyncio.get_running_loop()
    for _ in range(CONNECTIONS):
        await loop.create_connection(lambda: _Connection(wire, counter), "127.0.0.1", port)
    await counter.done


def measure_cost(port: int, pid: int, wire: bytes, total: int, *, status: int = 200) -> Cost:
    """Send `total` equal requests, and return their cost."""
    before = cpu_seconds(pid)
    asyncio.run(_send(port, wire, total, str(status).encode()))
    return Cost(total, cpu_seconds(pid) - before)


def ratio(ours: list[Cost], theirs: list[Cost]) -> float:
    """Median over the rounds of our requests per CPU second, as a multiple of theirs."""
    pairs = zip(ours, theirs, strict=True)
    return statistics.median(our.per_cpu_second / their.per_cpu_second for our, their in pairs)
