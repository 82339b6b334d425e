"""The head of a request is limited in time and size."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
import uvicorn
import uvloop
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from silverball.cli.connection import HEAD_BYTES_MAX, BoundedConnection


class Hasty(BoundedConnection):
    """A connection with a short timeout for tests."""

    head_seconds = 0.3


@asynccontextmanager
async def _serving(kind: type[BoundedConnection]) -> AsyncIterator[int]:
    routes = [Route("/", lambda _request: PlainTextResponse("here"))]
    listener = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(Starlette(routes=routes), http=kind, log_config=None, lifespan="off")
    server = uvicorn.Server(config)
    stopped = asyncio.ensure_future(server.serve(sockets=[listener]))
    while not server.started:
        await asyncio.sleep(0.01)
    try:
        yield int(listener.getsockname()[1])
    finally:
        server.should_exit = True
        await stopped


async def _answer_to(port: int, *parts: bytes, pause: float = 0.0) -> bytes:
    """All bytes until the server closes the connection."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        for part in parts:
            writer.write(part)
            await asyncio.sleep(pause)
        async with asyncio.timeout(10):
            return await reader.read()
    except OSError:
        return b""
    finally:
        writer.close()


@pytest.mark.parametrize(
    "parts", [(), (b"GET / HT",), (b"GET / HTTP/1.1\r\n",), (b"GET / HTTP/1.1\r\nHost: x\r\n",)]
)
def test_a_head_that_does_not_end_is_cut_off(parts: tuple[bytes, ...]) -> None:
    async def scenario() -> None:
        async with _serving(Hasty) as port:
            assert await _answer_to(port, *parts) == b""

    uvloop.run(scenario())


def test_an_oversized_head_is_cut_off() -> None:
    async def scenario() -> None:
        async with _serving(BoundedConnection) as port:
            filler = b"X-Filler: " + b"x" * 8_000 + b"\r\n"
            parts = [b"GET / HTTP/1.1\r\n", *[filler] * (HEAD_BYTES_MAX // len(filler) + 2)]
            assert await _answer_to(port, *parts, pause=0.01) == b""

    uvloop.run(scenario())


def test_only_the_head_of_a_request_is_timed() -> None:
    async def scenario() -> None:
        async with _serving(Hasty) as port:
            head = b"GET / HTTP/1.1\r\nHost: x\r\n"
            again = head + b"Connection: close\r\n\r\n"
            answer = await _answer_to(port, head[:9], head[9:] + b"\r\n", b"", b"", again, pause=0.12)
            assert answer.count(b"HTTP/1.1 200 OK") == 2

    uvloop.run(scenario())
