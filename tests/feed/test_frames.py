"""Frames and handshakes: compression, and input that no library sends, which ends its own connection only."""

import asyncio
import json
from contextlib import AsyncExitStack

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from websockets.asyncio.client import ClientConnection

from feed.feed_server import (
    FeedServer,
    next_message,
    run_scenario,
    running_feed,
    wait_until,
)
from feed.raw_connection import BINARY, CLOSE, PING, PONG, TEXT, RawConnection
from selection import examples
from silverball.feed.feed import ConnectionLimits


@pytest.mark.parametrize(
    ("frames", "code"),
    [
        ([(TEXT, b'{"event":"pusher:ping"}', None)], 1002),
        ([(TEXT | 0x40, b"x", b"abcd")], 1002),
        ([(TEXT | 0x20, b"x", b"abcd")], 1002),
        ([(TEXT | 0x10, b"x", b"abcd")], 1002),
        ([(0x83, b"x", b"abcd")], 1002),
        ([(0x8B, b"x", b"abcd")], 1002),
        ([(0x09, b"x", b"abcd")], 1002),
        ([(PING, b"x" * 126, b"abcd")], 1002),
        ([(0x80, b"x", b"abcd")], 1002),
        ([(0x01, b"x", b"abcd"), (TEXT, b"x", b"abcd")], 1002),
        ([(TEXT, b"\xff\xfe", b"abcd")], 1007),
        ([(0x01, b'{"event":"pusher:ping","data":"\xc3', b"abcd"), (0x80, b'"}', b"abcd")], 1007),
        ([(TEXT, b"x" * 10_000_000, b"\0\0\0\0")], 1009),
        ([(0x01, b"x" * 9_000, b"abcd"), (0x80, b"x" * 9_000, b"abcd")], 1009),
        ([(BINARY, b"x", b"abcd")], 1003),
        ([(CLOSE, b"\x03\xe8bye", b"abcd")], 1000),
        ([(CLOSE, b"", b"abcd")], 1005),
        ([(CLOSE, b"\x03", b"abcd")], 1002),
        ([(CLOSE, b"\x03\xed", b"abcd")], 1002),
        ([(TEXT, b"x", b"abcd")] * 10, 1008),
        ([(PING, b"x", b"abcd")] * 61, 1008),
    ],
)
def test_malformed_frames_end_with_the_right_code(
    frames: list[tuple[int, bytes, bytes | None]], code: int
) -> None:
    async def scenario() -> None:
        async with running_feed(42) as server:
            raw = await RawConnection.open(server)
            for first, payload, mask in frames:
                raw.send(first, payload, mask=mask)
            assert await raw.read_close_code() == code
            await raw.hang_up()
            await wait_until(lambda: server.hub.metrics.connections == 0)

    run_scenario(scenario())


def test_a_ping_frame_is_answered_and_does_not_disturb_a_message_in_pieces() -> None:
    async def scenario() -> None:
        async with running_feed(42) as server:
            raw = await RawConnection.open(server)
            raw.send(0x01, b'{"event":"push')
            raw.send(PING, b"are you there")
            raw.send(0x80, b'er:ping"}')
            assert await raw.read_frame() == (PONG, b"are you there")
            assert await raw.read_frame() == (TEXT, b'{"event":"pusher:pong","data":"{}"}')
            await raw.hang_up()

    run_scenario(scenario())


def test_a_flood_of_subscriptions_ends_only_its_own_connection() -> None:
    async def scenario() -> None:
        async with running_feed(42) as server, server.follower(42) as other:
            raw = await RawConnection.open(server)
            request = b'{"event":"pusher:subscribe","data":{"channel":"tournaments.42"}}'
            frame = bytes([TEXT, 0x80 | len(request), 0, 0, 0, 0]) + request
            raw.writer.write(frame * 100_000)
            assert await raw.read_close_code() == 1008
            await raw.hang_up()
            server.events.publish(42)
            assert (await next_message(other))["seq"] == 1
            await wait_until(lambda: server.hub.metrics.connections == 1)
            assert server.hub.metrics.subscriptions == 1

    run_scenario(scenario())


@pytest.mark.parametrize(
    ("change", "status"),
    [
        (("Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==", "Sec-WebSocket-Key: short"), 400),
        (("Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n", ""), 400),
        (("Sec-WebSocket-Version: 13", "Sec-WebSocket-Version: 8"), 400),
        (("Host: x", "Host: x\r\nX-Filler: " + "x" * 9_000), 431),
        (("GET ", "POST "), 405),
        (("Host: x", "Host: x\r\nTransfer-Encoding: chunked"), 400),
    ],
)
def test_a_malformed_handshake_is_refused_in_http(change: tuple[str, str], status: int) -> None:
    async def scenario() -> None:
        async with running_feed(42) as server:
            reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
            requests = (
                f"GET {server.path} HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n"
            )
            assert change[0] in requests
            writer.write(requests.replace(*change).encode())
            async with asyncio.timeout(10):
                answer = await reader.read()
            assert answer.startswith(f"HTTP/1.1 {status} ".encode())
            writer.close()
            assert server.hub.metrics.connections_total == 0

    run_scenario(scenario())


def test_the_libraries_other_transports_get_a_404() -> None:
    async def scenario() -> None:
        async with running_feed(42) as server:
            for path in ("/pusher/app/silverball/1/abc/xhr_streaming", "/app/silverball"):
                reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
                writer.write(f"GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".encode())
                assert (await reader.read()).startswith(b"HTTP/1.1 404 ")
                writer.close()

    run_scenario(scenario())


FRAMES = st.tuples(
    st.integers(0, 255),
    st.binary(max_size=200)
    | st.sampled_from([b'{"event":"pusher:ping"}', b'{"event":"pusher:subscribe","data":{"channel":"a"}}']),
    st.none() | st.binary(min_size=4, max_size=4),
)
KNOWN_CODES = {None, 1000, 1001, 1002, 1003, 1005, 1007, 1008, 1009}


@settings(
    max_examples=examples(150), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.lists(FRAMES, max_size=12), st.binary(max_size=60), st.booleans())
def _any_frames(
    runner: asyncio.Runner,
    server: FeedServer,
    frames: list[tuple[int, bytes, bytes | None]],
    rubbish: bytes,
    says_when_done: bool,
) -> None:
    async def scenario() -> None:
        raw = await RawConnection.open(server)
        for first, payload, mask in frames:
            raw.send(first, payload, mask=mask)
        raw.writer.write(rubbish)
        if says_when_done:
            raw.writer.write_eof()
            raw.answers_close = False
            code = await raw.read_close_code()
            echoed = any(first & 0x0F == 8 for first, _, _ in frames)
            assert code in KNOWN_CODES or echoed
        await raw.hang_up()
        await wait_until(lambda: server.hub.metrics.connections == 1)

    runner.run(scenario())


def test_no_frames_break_the_server(caplog: pytest.LogCaptureFixture) -> None:
    with asyncio.Runner() as runner:
        stack = AsyncExitStack()

        async def begin() -> tuple[FeedServer, ClientConnection]:
            server = await stack.enter_async_context(running_feed(42))
            return server, await stack.enter_async_context(server.follower(42))

        server, other = runner.run(begin())

        async def still_there() -> None:
            server.events.publish(42)
            assert (await next_message(other))["seq"] == 1
            assert server.hub.metrics.subscriptions == 1
            assert not server.hub._tasks

        try:
            _any_frames(runner, server)
            runner.run(still_there())
        finally:
            runner.run(stack.aclose())
    assert "a connection failed" not in caplog.text
    assert "parser failed" not in caplog.text


def test_a_message_is_compressed_once_for_all_clients() -> None:
    async def scenario() -> None:
        text = json.dumps({"gameId": 7, "name": "silver " * 2_000})
        async with running_feed(42, limits=ConnectionLimits(10, allows_compression=True)) as server:
            follower = server.follower(42, compression="deflate")
            async with (
                follower as compressed,
                server.follower(42, compression="deflate") as second,
                server.follower(42) as uncompressed,
            ):
                assert compressed.response is not None
                assert "permessage-deflate" in compressed.response.headers["Sec-WebSocket-Extensions"]
                server.events.publish(42, data=text)
                for client in (compressed, second, uncompressed):
                    assert (await next_message(client))["data"] == text
                await compressed.send('{"event":"pusher:ping"}')
                assert await next_message(compressed) == {"event": "pusher:pong", "data": "{}"}

    run_scenario(scenario())


def test_compression_is_refused_unless_it_is_enabled() -> None:
    async def scenario() -> None:
        async with running_feed(42) as server, server.client(compression="deflate") as client:
            assert client.response is not None
            assert "Sec-WebSocket-Extensions" not in client.response.headers

    run_scenario(scenario())
