"""A front door behind real connections on the loopback, and clients that send it raw bytes."""

import asyncio
import contextlib
import re
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any, Self

import uvicorn
import uvloop

from silverball.kit.edge.blocked_networks import BlockedNetworks, BlockedNetworksDoor
from silverball.kit.edge.bounded_http import connection_class
from silverball.kit.edge.connections import ConnectionTable, HttpLimits
from silverball.kit.edge.front import FrontDoor
from silverball.kit.edge.kept_answers import KeptAnswers
from silverball.kit.edge.proxies import TrustedProxies

LIMITS = HttpLimits(total=100, per_address=100, sweep_seconds=0.05)
# What differs between any two answers: the time, and the number of a request.
OWN_LINES = re.compile(rb"(?m)^(date: |x-request-id: (?!mine))[^\r]*\r\n")


class ServedDoor:
    """A front door behind real connections. `keeps`: whether these answer known requests themselves."""

    def __init__(
        self, door: FrontDoor, proxies: TrustedProxies, *, keeps: bool, limits: HttpLimits = LIMITS
    ) -> None:
        self.door = door
        self.proxies = proxies
        self.blocked_networks: list[str] = []
        self.blocked = BlockedNetworks(lambda: self.blocked_networks)
        self.kept: KeptAnswers = door.kept_answers(self.blocked)
        self._keeps = keeps
        self._limits = limits
        self.port = 0

    @asynccontextmanager
    async def serving(self, **options: Any) -> AsyncIterator[Self]:
        listener = socket.create_server(("127.0.0.1", 0))
        self.port = int(listener.getsockname()[1])
        table = ConnectionTable(self._limits, self.proxies)
        config = uvicorn.Config(
            BlockedNetworksDoor(self.door, self.blocked, self.proxies),
            http=connection_class(table, self.kept if self._keeps else None),
            headers=[("x-content-type-options", "nosniff")],
            log_config=None,
            lifespan="off",
            server_header=False,
            proxy_headers=False,
            **options,
        )
        server = uvicorn.Server(config)
        stopped = asyncio.ensure_future(server.serve(sockets=[listener]))
        while not server.started:
            await asyncio.sleep(0.005)
        try:
            yield self
        finally:
            server.should_exit = True
            await stopped
            self.door.close()


class Client:
    """A connection that is kept alive."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self.writer = writer

    async def ask(self, *parts: bytes, pause: float = 0.02, is_head: bool = False) -> bytes:
        """Send these bytes, with pauses in between, and return the answer."""
        for number, part in enumerate(parts):
            if number:
                await asyncio.sleep(pause)
            self.writer.write(part)
            await self.writer.drain()
        return await self.answer(is_head=is_head)

    async def answer(self, *, is_head: bool = False) -> bytes:
        head = await self._reader.readuntil(b"\r\n\r\n")
        found = re.search(rb"(?i)\r\ncontent-length: (\d+)", head)
        is_empty = is_head or b" 304 " in head.split(b"\r\n", 1)[0]
        return head + (await self._reader.readexactly(int(found[1])) if found and not is_empty else b"")

    async def ends_within(self, seconds: float) -> bool:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                return await self._reader.read(1) == b""
        return False


@asynccontextmanager
async def connected(site: ServedDoor) -> AsyncIterator[Client]:
    reader, writer = await asyncio.open_connection("127.0.0.1", site.port)
    try:
        yield Client(reader, writer)
    finally:
        writer.transport.abort()


def run(scenario: Callable[[], Awaitable[None]], seconds: float = 60) -> None:
    async def bounded() -> None:
        async with asyncio.timeout(seconds):
            await scenario()

    uvloop.run(bounded())


def request_head(path: str, *lines: str, token: str | None, method: str = "GET") -> bytes:
    credentials = [f"Authorization: Bearer {token}"] if token else []
    return "\r\n".join([f"{method} {path} HTTP/1.1", "Host: x", *credentials, *lines, "", ""]).encode()


def etag_of(answer: bytes) -> str:
    found = re.search(rb"etag: ([^\r]+)", answer)
    assert found is not None
    return found[1].decode()


def status(answer: bytes) -> int:
    return int(answer[9:12])


def comparable(answer: bytes) -> bytes:
    return OWN_LINES.sub(b"", answer)
