"""Connections over a raw socket: every part of every request is limited in size and time."""

import asyncio
import contextlib
import inspect
import re
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager

import pytest
import uvicorn
import uvloop
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route
from uvicorn.protocols.http import httptools_impl

from patience import PATIENCE_SECONDS
from silverball.kit.edge.backend import BODY_BYTES_MAX
from silverball.kit.edge.bounded_http import HEAD_BYTES_MAX, HEAD_LINES_MAX, connection_class
from silverball.kit.edge.connections import ConnectionTable, HttpLimits
from silverball.kit.edge.proxies import NO_PROXIES, TrustedProxies
from trials.figures import count_attempts

GET = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"
LAST_GET = b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
CHUNKED = b"POST /body HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
LARGE_ANSWER = b"x" * 20_000_000
# Deadlines short enough for a test.
HASTY = HttpLimits(
    total=100,
    per_address=100,
    head_seconds=0.8,
    body_grace_seconds=0.8,
    body_seconds=3.0,
    stalled_seconds=1.5,
    sweep_seconds=0.05,
)
PATIENT = HttpLimits(total=100, per_address=100)


async def _answer_body(request: Request) -> Response:
    return PlainTextResponse(str(len(await request.body())))


async def _refuse_unread(_request: Request) -> Response:
    return PlainTextResponse("no", status_code=401)


@asynccontextmanager
async def _serving(
    limits: HttpLimits = PATIENT, proxies: TrustedProxies = NO_PROXIES
) -> AsyncIterator[tuple[int, ConnectionTable]]:
    routes = [
        Route("/", lambda _request: PlainTextResponse("here")),
        Route("/large", lambda _request: Response(LARGE_ANSWER)),
        Route("/body", _answer_body, methods=["POST"]),
        Route("/refused", _refuse_unread, methods=["POST"]),
    ]
    listener = socket.create_server(("127.0.0.1", 0))
    table = ConnectionTable(limits, proxies)
    config = uvicorn.Config(
        Starlette(routes=routes), http=connection_class(table), log_config=None, lifespan="off"
    )
    server = uvicorn.Server(config)
    stopped = asyncio.ensure_future(server.serve(sockets=[listener]))
    while not server.started:
        await asyncio.sleep(0.01)
    try:
        yield int(listener.getsockname()[1]), table
    finally:
        server.should_exit = True
        await stopped
        assert table.body_bytes == 0


def _run(scenario: Callable[[], Awaitable[None]]) -> None:
    async def bounded() -> None:
        async with asyncio.timeout(PATIENCE_SECONDS):
            await scenario()

    uvloop.run(bounded())


async def _answer_to(port: int, *parts: bytes, pause: float = 0.0) -> bytes:
    """All bytes until the server closes the connection."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    # Read all the time: an answer that waits is lost when the server drops what comes after it.
    received = asyncio.ensure_future(_read_all(reader))
    try:
        with contextlib.suppress(OSError):
            for part in parts:
                writer.write(part)
                await writer.drain()
                await asyncio.sleep(pause)
        async with asyncio.timeout(PATIENCE_SECONDS):
            return await received
    finally:
        received.cancel()
        await _drop([writer])


async def _read_all(reader: asyncio.StreamReader) -> bytes:
    answer = bytearray()
    with contextlib.suppress(OSError):
        while part := await reader.read(65_536):
            answer += part
    return bytes(answer)


async def _drop(writers: Iterable[asyncio.StreamWriter]) -> None:
    for writer in writers:
        writer.transport.abort()
    await asyncio.sleep(0.01)


def _statuses(answers: bytes) -> list[int]:
    return [int(part[:3]) for part in answers.split(b"HTTP/1.1 ")[1:]]


def _lines(number: int, size: int = 20) -> bytes:
    return b"".join(b"X-Filler-%d: " % n + b"x" * size + b"\r\n" for n in range(number))


# Heads


@pytest.mark.parametrize(
    "parts",
    [
        (),
        (b"GET / HT",),
        (b"GET / HTTP/1.1\r\n",),
        (b"GET / HTTP/1.1\r\nHost: x\r\n",),
        (GET, b"GET / HT"),
        (GET, *[b"\r\n"] * 20),
    ],
)
def test_a_head_that_does_not_end_is_cut_off(parts: tuple[bytes, ...]) -> None:
    async def scenario() -> None:
        async with _serving(HASTY) as (port, _table):
            assert set(_statuses(await _answer_to(port, *parts, pause=0.02))) <= {200}

    _run(scenario)


HEAD = b"GET / HTTP/1.1\r\nHost: x\r\n"


@pytest.mark.parametrize("earlier", [b"", GET, GET * 3])
@pytest.mark.parametrize(
    ("parts", "status"),
    [
        ((HEAD, *[_lines(1, 8_000)] * 10), 431),
        ((HEAD, b"X-Endless: ", *[b"x" * 8_000] * 10), 431),
        ((HEAD + _lines(HEAD_LINES_MAX) + b"\r\n",), 431),
        ((HEAD + _lines(50, 3_000) + b"\r\n",), 431),
        ((b"GET /", *[b"a" * 8_000] * 10), 414),
        ((b"GET /" + b"a" * 100_000 + b" HTTP/1.1\r\n\r\n",), 414),
    ],
    ids=[
        "many lines",
        "an endless line",
        "100 lines",
        "one large packet",
        "an endless address",
        "an address",
    ],
)
def test_every_head_of_a_connection_is_limited(earlier: bytes, parts: Iterable[bytes], status: int) -> None:
    async def scenario() -> None:
        async with _serving() as (port, _table):
            first, *others = parts
            answers = await _answer_to(port, earlier, first, *others, pause=0.01)
            assert _statuses(answers) == [200] * earlier.count(b"GET") + [status]
            assert answers.endswith(b'"}')

    _run(scenario)


def test_a_head_of_the_largest_size_is_read() -> None:
    async def scenario() -> None:
        async with _serving() as (port, _table):
            head = LAST_GET[:-2] + _lines(60, 1_000) + b"\r\n"
            assert len(head) < HEAD_BYTES_MAX
            assert _statuses(await _answer_to(port, GET + head)) == [200, 200]

    _run(scenario)


def test_many_small_requests_in_one_packet_are_answered() -> None:
    async def scenario() -> None:
        async with _serving() as (port, _table):
            assert _statuses(await _answer_to(port, GET * 5_000 + LAST_GET)) == [200] * 5_001

    _run(scenario)


def test_only_the_head_of_a_request_is_timed() -> None:
    async def scenario() -> None:
        async with _serving(HASTY) as (port, _table):
            head = b"GET / HTTP/1.1\r\nHost: x\r\n"
            again = head + b"Connection: close\r\n\r\n"
            answer = await _answer_to(port, head[:9], head[9:] + b"\r\n", b"", b"", again, pause=0.12)
            assert _statuses(answer) == [200, 200]

    _run(scenario)


# Two lengths of one body: a proxy that believes the other one would let the second request through unseen.
HIDDEN = b"GET /hidden HTTP/1.1\r\nHost: x\r\n\r\n"
CHUNKS = b"0\r\n\r\n" + HIDDEN
TWO_LENGTHS = {
    "length and chunks": (b"Content-Length: 6", b"Transfer-Encoding: chunked"),
    "chunks and length": (b"Transfer-Encoding: chunked", b"Content-Length: 6"),
    "no length and chunks": (b"Content-Length: 0", b"Transfer-Encoding: chunked"),
    "chunks twice": (b"Transfer-Encoding: chunked", b"Transfer-Encoding: chunked", b"Content-Length: 5"),
    "chunks before another": (b"Transfer-Encoding: chunked, identity",),
    "two lengths": (b"Content-Length: 5", b"Content-Length: 44"),
    "a list of lengths": (b"Content-Length: 5, 44",),
    "a length with a sign": (b"Content-Length: +5",),
    "a negative length": (b"Content-Length: -5",),
    "a length in hex": (b"Content-Length: 0x5",),
    "a length with a space": (b"Content-Length: 5 5",),
    "a space before the colon": (b"Transfer-Encoding : chunked", b"Content-Length: 5"),
    "a folded line": (b"Transfer-Encoding:\r\n chunked", b"Content-Length: 5"),
    "a tab in the name": (b"Transfer-\tEncoding: chunked", b"Content-Length: 5"),
    "a bare line feed": (b"X: y\nTransfer-Encoding: chunked", b"Content-Length: 5"),
    "a bare carriage return": (b"X: y\rTransfer-Encoding: chunked", b"Content-Length: 5"),
    "a zero byte": (b"X: y\0", b"Transfer-Encoding: chunked", b"Content-Length: 5"),
    "an unknown coding": (b"Transfer-Encoding: xchunked", b"Content-Length: 5"),
}
BROKEN_CHUNKS = (b"0_1\r\n", b"0x1\r\na\r\n0\r\n\r\n", b"-1\r\n", b"1\r\naa\r\n0\r\n\r\n", b"1\na\n0\n\n")


def test_no_request_hides_in_the_body_of_another() -> None:
    requests = {name: b"\r\n".join(lines) for name, lines in TWO_LENGTHS.items()}

    async def scenario() -> None:
        async with _serving() as (port, _table):
            for name, lines in requests.items():
                head = b"POST /body HTTP/1.1\r\nHost: x\r\n" + lines + b"\r\nConnection: close\r\n\r\n"
                assert _statuses(await _answer_to(port, head + CHUNKS)) == [400], name
            for chunk in BROKEN_CHUNKS:
                answers = _statuses(await _answer_to(port, CHUNKED + chunk + HIDDEN))
                assert answers == [400], (chunk, answers)
        count_attempts("smuggled requests", len(requests) + len(BROKEN_CHUNKS))

    _run(scenario)


@pytest.mark.parametrize("request_line", [b"GET http://[ HTTP/1.1", b"nonsense", b"GET / HTTP/9.9"])
def test_what_is_no_request_is_refused_in_json(request_line: bytes) -> None:
    async def scenario() -> None:
        async with _serving() as (port, _table):
            answer = await _answer_to(port, request_line + b"\r\nHost: x\r\n\r\n")
            assert _statuses(answer) == [400]
            assert answer.endswith(b'{"message":"Bad request.","code":"malformed-request"}')
            assert b"content-type: application/json" in answer

    _run(scenario)


@pytest.mark.parametrize(
    ("head", "status"),
    [
        (b"GET / HTTP/1.1\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nHost: x\r\nhost: y\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nHost: x\r\nHost: x\r\n\r\n", 400),
        (b"GET / HTTP/1.0\r\nHost: x\r\nHost: y\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n", 400),
        (b"GET / HTTP/1.0\r\n\r\n", 200),
    ],
)
def test_a_request_names_its_host_exactly_once(head: bytes, status: int) -> None:
    async def scenario() -> None:
        async with _serving() as (port, _table):
            answer = await _answer_to(port, GET + head)
            assert _statuses(answer) == [200, status]
            assert answer.endswith(b'"unclear-host"}') == (status == 400)

    _run(scenario)


# Trailers and chunks


@pytest.mark.parametrize(
    "parts",
    [
        (b"1\r\nx\r\n0\r\n", _lines(HEAD_LINES_MAX + 2)),
        (b"1\r\nx\r\n0\r\nX-Endless: ", *[b"x" * 8_000] * 12),
        (b"1\r\nx\r\n1;", *[b"x" * 8_000] * 12),
    ],
    ids=["many trailers", "an endless trailer", "an endless extension of a chunk"],
)
def test_what_surrounds_a_chunked_body_is_limited(parts: tuple[bytes, ...]) -> None:
    async def scenario() -> None:
        async with _serving() as (port, _table):
            assert _statuses(await _answer_to(port, GET, CHUNKED, *parts, pause=0.01)) == [200, 431]

    _run(scenario)


def test_trailers_are_dropped_and_the_connection_goes_on() -> None:
    async def scenario() -> None:
        async with _serving() as (port, _table):
            trailers = b"3\r\nabc\r\n0\r\n" + _lines(10) + b"\r\n"
            answers = await _answer_to(port, CHUNKED, trailers, CHUNKED, trailers, LAST_GET, pause=0.02)
            assert _statuses(answers) == [200, 200, 200]

    _run(scenario)


# Bodies


def _post(size: int, path: bytes = b"/body") -> bytes:
    return b"POST %b HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % (path, size)


def test_a_body_that_trickles_is_refused() -> None:
    async def scenario() -> None:
        async with _serving(HASTY) as (port, _table):
            answer = await _answer_to(port, _post(100_000), *[b"x"] * 10, pause=0.1)
            assert _statuses(answer) == [408]
            assert b"did not arrive in time" in answer

    _run(scenario)


def test_a_body_that_never_comes_is_refused() -> None:
    async def scenario() -> None:
        async with _serving(HASTY) as (port, _table):
            assert _statuses(await _answer_to(port, _post(5))) == [408]

    _run(scenario)


def test_a_body_at_a_fair_pace_is_refused_when_it_takes_too_long_in_all() -> None:
    async def scenario() -> None:
        async with _serving(HASTY) as (port, _table):
            answer = await _answer_to(port, _post(900_000), *[b"x" * 2_000] * 40, pause=0.1)
            assert _statuses(answer) == [408]

    _run(scenario)


def test_a_slow_body_at_a_fair_pace_is_read() -> None:
    async def scenario() -> None:
        async with _serving(HASTY) as (port, _table):
            head = _post(6_000).replace(b"Host", b"Connection: close\r\nHost")
            answer = await _answer_to(port, head, *[b"x" * 1_000] * 6, pause=0.1)
            assert _statuses(answer) == [200]
            assert answer.endswith(b"6000")

    _run(scenario)


def test_bytes_after_an_early_answer_are_read_to_an_end() -> None:
    async def scenario() -> None:
        async with _serving(HASTY) as (port, _table):
            endless = [b"x" * 60_000] * (3 * BODY_BYTES_MAX // 60_000)
            answer = await _answer_to(port, _post(10**12, b"/refused"), *endless)
            assert _statuses(answer) in ([], [401])

    _run(scenario)


def test_bodies_share_a_limited_memory_and_small_ones_always_fit() -> None:
    async def scenario() -> None:
        limits = HttpLimits(total=100, per_address=100, bodies_bytes=1_000_000)
        async with _serving(limits) as (port, table):
            waiting = []
            for _ in range(10):
                reader, writer = await asyncio.open_connection("127.0.0.1", port)
                writer.write(_post(200_000) + b"x" * 150_000)
                waiting.append((reader, writer))
            await asyncio.sleep(0.3)
            assert table.body_bytes <= 1_000_000
            small = await _answer_to(
                port, _post(300).replace(b"Host", b"Connection: close\r\nHost"), b"x" * 300
            )
            assert _statuses(small) == [200]
            for _reader, writer in waiting:
                with contextlib.suppress(OSError):
                    writer.write(b"x" * 50_000)
            answers = [await _read_some(reader) for reader, _writer in waiting]
            statuses = sorted(status for answer in answers for status in _statuses(answer))
            assert set(statuses) == {200, 503}
            assert statuses.count(200) == 3
            await _drop(writer for _reader, writer in waiting)
            await _until(lambda: table.body_bytes == 0)

    _run(scenario)


async def _read_some(reader: asyncio.StreamReader) -> bytes:
    try:
        return await reader.read(10_000)
    except OSError:
        return b""


# Answers


def test_a_reader_that_takes_nothing_is_cut_off() -> None:
    async def scenario() -> None:
        async with _serving(HASTY) as (port, table):
            _reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=1_000)
            writer.write(b"GET /large HTTP/1.1\r\nHost: x\r\n\r\n")
            await _until(lambda: len(table) == 1)
            await _until(lambda: len(table) == 0)
            await _drop([writer])

    _run(scenario)


async def _until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(PATIENCE_SECONDS):
        while not holds():
            await asyncio.sleep(0.01)


def test_a_slow_reader_gets_the_whole_answer() -> None:
    async def scenario() -> None:
        async with _serving(HASTY) as (port, _table):
            reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=100_000)
            writer.write(b"GET /large HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            received = 0
            while part := await reader.read(500_000):
                received += len(part)
                await asyncio.sleep(0.01)
            assert received > len(LARGE_ANSWER)
            await _drop([writer])

    _run(scenario)


# Numbers of connections


async def _open_idle(table: ConnectionTable, port: int, number: int) -> list[asyncio.StreamWriter]:
    """Open connections of one address, and wait until the server has counted them."""
    opened, before = [], len(table)
    for _ in range(number):
        _reader, writer = await asyncio.open_connection("127.0.0.1", port, local_addr=("127.0.0.1", 0))
        writer.write(b"GET / HT")
        opened.append(writer)
    await _until(lambda: len(table) == before + number)
    return opened


async def _status_from(port: int, source: str) -> int:
    reader, writer = await asyncio.open_connection("127.0.0.1", port, local_addr=(source, 0))
    try:
        with contextlib.suppress(OSError):
            writer.write(LAST_GET)
        return _statuses(await reader.read())[0]
    finally:
        await _drop([writer])


@pytest.mark.parametrize(("total", "per_address"), [(100, 5), (10, 1_000)])
def test_an_address_has_its_share_of_the_connections(total: int, per_address: int) -> None:
    async def scenario() -> None:
        async with _serving(HttpLimits(total=total, per_address=per_address)) as (port, table):
            opened = await _open_idle(table, port, 5)
            assert await _status_from(port, "127.0.0.1") == 503
            assert await _status_from(port, "127.0.0.2") == 200
            await _drop([opened.pop()])
            await _until(lambda: len(table) == 4)
            assert await _status_from(port, "127.0.0.1") == 200
            await _drop(opened)

    _run(scenario)


def test_a_trusted_proxy_is_not_counted_as_one_address() -> None:
    async def scenario() -> None:
        limits, proxies = HttpLimits(total=12, per_address=2), TrustedProxies.parse("127.0.0.1")
        async with _serving(limits, proxies) as (port, table):
            opened = await _open_idle(table, port, 11)
            assert await _status_from(port, "127.0.0.1") == 200
            await _until(lambda: len(table) == 11)
            opened += await _open_idle(table, port, 1)
            assert await _status_from(port, "127.0.0.1") == 503
            await _drop(opened)

    _run(scenario)


def test_uvicorn_starts_requests_and_sockets_as_our_protocols_expect() -> None:
    """The parts of uvicorn that our protocol classes extend: look at them when they change."""
    source = inspect.getsource(httptools_impl)
    assert source.count("self._start_asgi_task(") == 2
    assert list(inspect.signature(httptools_impl.HttpToolsProtocol._start_asgi_task).parameters) == [
        "self",
        "cycle",
        "app",
    ]
    upgrade = inspect.getsource(httptools_impl.HttpToolsProtocol.handle_websocket_upgrade)
    made = upgrade.partition("self.ws_protocol_class(")[2].partition(")\n")[0]
    assert re.findall(r"(\w+)=self\.(\w+)", made) == [
        (name, name) for name in ("config", "server_state", "app_state")
    ]
