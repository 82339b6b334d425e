"""The head of an answer leaves with the first part of its body, and never waits for more than that."""

import asyncio
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
import uvicorn
import uvloop

from silverball.kit.edge.bounded_http import JoinedHead, connection_class
from silverball.kit.edge.connections import ConnectionTable, HttpLimits
from silverball.kit.edge.proxies import NO_PROXIES

Send = Callable[[dict[str, Any]], Awaitable[None]]


class Recorder:
    """What is written to a connection, one item for each call of the system."""

    def __init__(self) -> None:
        self.written: list[bytes] = []

    def write(self, data: bytes) -> None:
        self.written.append(data)

    def writelines(self, parts: tuple[bytes, ...]) -> None:
        self.written.append(b"".join(parts))

    def close(self) -> None:
        self.written.append(b"CLOSED")


def _written(*parts: bytes, is_closed: bool = False) -> list[bytes]:
    recorder = Recorder()
    joined = JoinedHead(recorder)  # type: ignore[arg-type]  # all that it uses
    for part in parts:
        joined.write(part)
    if is_closed:
        joined.close()
    return recorder.written


@pytest.mark.parametrize(
    ("parts", "is_closed", "written"),
    [
        ((b"head ", b"body"), False, [b"head body"]),
        ((b"head ", b""), False, [b"head "]),
        ((b"head ", b"one", b"two"), False, [b"head one", b"two"]),
        ((b"head ", b"", b"two"), False, [b"head ", b"two"]),
        # An application that fails between head and body: uvicorn closes the connection.
        ((b"head ",), True, [b"head ", b"CLOSED"]),
        ((b"head ", b"body"), True, [b"head body", b"CLOSED"]),
        ((), True, [b"CLOSED"]),
    ],
)
def test_the_head_leaves_with_the_first_part(
    parts: tuple[bytes, ...], is_closed: bool, written: list[bytes]
) -> None:
    assert _written(*parts, is_closed=is_closed) == written


async def _answer(scope: dict[str, Any], receive: Callable[[], Awaitable[Any]], send: Send) -> None:
    """Answer by the path: with a body, without, in parts, or not to the end."""
    path = scope["path"]
    while (await receive()).get("more_body"):
        pass
    status = {"/empty": 204, "/unchanged": 304}.get(path, 200)
    length = [(b"content-length", b"4")] if path in ("/whole", "/broken") else []
    await send({"type": "http.response.start", "status": status, "headers": length})
    if path == "/broken":
        raise RuntimeError("between head and body")
    if path == "/parts":
        for part in (b"", b"bo", b"dy"):
            await send({"type": "http.response.body", "body": part, "more_body": True})
    body = b"body" if path == "/whole" else b""
    await send({"type": "http.response.body", "body": body})


@asynccontextmanager
async def _serving() -> AsyncIterator[int]:
    listener = socket.create_server(("127.0.0.1", 0))
    http = connection_class(ConnectionTable(HttpLimits(total=100, per_address=100), NO_PROXIES))
    config = uvicorn.Config(_answer, http=http, log_config=None, lifespan="off")
    server = uvicorn.Server(config)
    stopped = asyncio.ensure_future(server.serve(sockets=[listener]))
    while not server.started:
        await asyncio.sleep(0.01)
    try:
        yield int(listener.getsockname()[1])
    finally:
        server.should_exit = True
        await stopped


def _answers(request: bytes) -> bytes:
    """All that comes until the server closes the connection."""

    async def ask() -> bytes:
        async with _serving() as port, asyncio.timeout(10):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(request)
            received = await reader.read()
            writer.close()
            return received

    return uvloop.run(ask())


@pytest.mark.parametrize(
    ("method", "path", "status", "body"),
    [
        ("GET", "/whole", b"200 OK", b"body"),
        ("HEAD", "/whole", b"200 OK", b""),
        ("GET", "/empty", b"204 No Content", b""),
        ("GET", "/unchanged", b"304 Not Modified", b""),
        ("GET", "/parts", b"200 OK", b"2\r\nbo\r\n2\r\ndy\r\n0\r\n\r\n"),
        ("GET", "/broken", b"200 OK", b""),
    ],
)
def test_every_kind_of_answer_arrives_whole(method: str, path: str, status: bytes, body: bytes) -> None:
    last = f"{method} {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".encode()
    head, _, rest = _answers(last).partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 " + status)
    assert rest == body


def test_a_client_that_waits_for_leave_to_send_gets_it_before_the_answer() -> None:
    head = b"PUT /whole HTTP/1.1\r\nHost: x\r\nConnection: close\r\nExpect: 100-continue\r\n"
    answers = _answers(head + b"Content-Length: 2\r\n\r\n{}")
    assert answers.startswith(b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n")
    assert answers.endswith(b"\r\n\r\nbody")


def test_two_requests_in_one_packet_have_two_answers() -> None:
    first = b"GET /whole HTTP/1.1\r\nHost: x\r\n\r\n"
    last = (
        b"HEAD /whole HTTP/1.1\r\nHost: x\r\n\r\nGET /whole HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
    )
    answers = _answers(first + last)
    assert answers.count(b"HTTP/1.1 200 OK") == 3
    assert answers.count(b"body") == 2
