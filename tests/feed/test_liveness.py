"""Liveness: pings both ways, and the end of connections that do not answer."""

import asyncio
from random import Random
from typing import Any

import pytest
from websockets.asyncio.client import ClientConnection

from feed.feed_server import (
    RULES,
    ManualClock,
    MemoryEvents,
    next_message,
    read_close,
    run_scenario,
    running_feed,
    subscribe,
    wait_until,
)
from feed.raw_connection import PING, PONG, TEXT, RawConnection
from silverball.feed import messages
from silverball.feed.feed import CHECKS_PER_TURN, ConnectionLimits, Feed
from silverball.feed.hub import Hub
from silverball.feed.messages import FrameEncoding
from silverball.feed.protocol import Close


def test_a_client_that_answers_only_the_exact_text_stays_for_hours() -> None:
    async def scenario() -> None:
        clock = ManualClock()
        async with running_feed(42, clock=clock) as server:
            raw = await RawConnection.open(server)
            await raw.subscribe(42)
            answered = 0
            for _ in range(30):
                clock.now += 25
                assert await raw.read_frame() == (PING, b"")
                clock.now += 15
                first, payload = await raw.read_frame()
                # Such a client compares texts instead of parsing them.
                if first == TEXT and payload == b'{"event":"pusher:ping"}':
                    clock.now += 29
                    await asyncio.sleep(0.03)
                    raw.send(TEXT, b'{"event":"pusher:pong","data":{}}')
                    answered += 1
                    await asyncio.sleep(0.03)
            assert answered == 30
            server.events.publish(42)
            assert (await raw.read_text())["seq"] == 1
            await raw.hang_up()

    run_scenario(scenario())


@pytest.mark.parametrize("opcode", [PONG, PING])
def test_a_client_that_answers_control_frames_gets_no_text_ping(opcode: int) -> None:
    async def scenario() -> None:
        clock = ManualClock()
        async with running_feed(42, clock=clock) as server:
            raw = await RawConnection.open(server)
            for _ in range(10):
                clock.now += 26
                assert await raw.read_frame() == (PING, b"")
                raw.send(opcode, b"")
                if opcode == PING:
                    assert await raw.read_frame() == (PONG, b"")
                # Answered when the server has read what came before.
                raw.send(PING, b"")
                assert await raw.read_frame() == (PONG, b"")
            assert server.hub.metrics.pings_total == 10
            await raw.hang_up()

    run_scenario(scenario())


def test_a_client_that_answers_nothing_is_closed_with_4201() -> None:
    async def scenario() -> None:
        clock = ManualClock()
        async with running_feed(42, clock=clock) as server:
            raw = await RawConnection.open(server)
            clock.now += 25
            assert await raw.read_frame() == (PING, b"")
            clock.now += 15
            assert await raw.read_frame() == (TEXT, b'{"event":"pusher:ping"}')
            clock.now += 30
            assert (await raw.read_text())["data"]["code"] == 4201
            assert await raw.read_close_code() == 4201
            await raw.hang_up()

    run_scenario(scenario())


async def _pass_an_hour(client: ClientConnection, clock: ManualClock) -> None:
    """Answer with control frames only, as some clients do."""
    clock.now += 3_600
    await client.pong()
    # Answered when the server has read what came before.
    await (await client.ping())


async def _next_but_ping(client: ClientConnection) -> Any:
    while (message := await next_message(client))["event"] == "pusher:ping":
        pass
    return message


def test_a_connection_without_messages_for_a_day_is_closed_with_4202() -> None:
    async def scenario() -> None:
        clock = ManualClock()
        async with running_feed(42, clock=clock) as server, server.follower(42) as quiet:
            for _ in range(23):
                await _pass_an_hour(quiet, clock)
            assert server.hub.metrics.closes_total == {}
            clock.now += 3_600
            assert (await _next_but_ping(quiet))["data"]["code"] == 4202
            assert (await read_close(quiet))[0] == 4202

    run_scenario(scenario())


def test_a_silent_client_stays_while_it_gets_events() -> None:
    async def scenario() -> None:
        clock = ManualClock()
        async with running_feed(42, clock=clock) as server, server.follower(42) as quiet:
            for hour in range(30):
                await _pass_an_hour(quiet, clock)
                if hour % 10 == 0:
                    server.events.publish(42)
                    assert (await _next_but_ping(quiet))["seq"] == hour // 10 + 1
            assert server.hub.metrics.closes_total == {}

    run_scenario(scenario())


def test_a_client_that_does_not_answer_a_close_is_cut_off() -> None:
    async def scenario() -> None:
        clock = ManualClock()
        async with running_feed(42, clock=clock) as server:
            raw = await RawConnection.open(server)
            raw.answers_close = False
            raw.send(0x82, b"binary")
            reading = asyncio.ensure_future(raw.read_close_code())
            await wait_until(lambda: server.hub.metrics.closes_total[1003] == 1)
            await asyncio.sleep(0.05)
            assert server.hub.metrics.connections == 1
            clock.now += 5
            await wait_until(lambda: server.hub.metrics.connections == 0)
            with pytest.raises(OSError, match="reset"):
                assert await reading == 1003
                raise ConnectionResetError("reset, if the close frame came first")
            await raw.hang_up()

    run_scenario(scenario())


def test_a_connection_that_breaks_leaves_nothing_behind() -> None:
    async def scenario() -> None:
        async with running_feed(42) as server:
            raw = await RawConnection.open(server)
            await raw.subscribe(42)
            raw.writer.transport.abort()
            await wait_until(lambda: server.hub.metrics.connections == 0)
            assert server.hub.metrics.subscriptions == 0
            assert server.hub.watched_ids == set()
            async with server.client() as client:
                await next_message(client)
                await subscribe(client, 42)
                assert (await next_message(client))["event"] == "pusher_internal:subscription_succeeded"
            await raw.hang_up()

    run_scenario(scenario())


def test_messages_beyond_the_burst_are_answered_within_seconds() -> None:
    async def scenario() -> None:
        clock = ManualClock()
        async with running_feed(42, clock=clock) as server:
            raw = await RawConnection.open(server)
            for _ in range(100):
                raw.send(TEXT, b'{"event":"pusher:ping","data":{}}')
            # 60 at once, and 20 a second after that.
            answered = [await raw.read_frame() for _ in range(60)]
            clock.now += 1
            answered += [await raw.read_frame() for _ in range(20)]
            clock.now += 1
            answered += [await raw.read_frame() for _ in range(20)]
            assert set(answered) == {(TEXT, messages.PONG)}
            await raw.hang_up()

    run_scenario(scenario())


class PingedWriter:
    """A socket that takes everything, and notes that it was pinged."""

    def __init__(self, pinged: list["PingedWriter"]) -> None:
        self._pinged = pinged

    def write(self, frames: bytes) -> None:
        """Take the greeting."""

    def buffered_bytes(self) -> int:
        return 0

    def send_ping(self) -> None:
        self._pinged.append(self)

    def start_close(self, close: Close) -> None:
        raise AssertionError(close)

    def abort(self) -> None:
        raise AssertionError("nobody is to be cut off")


def test_pings_to_thousands_that_are_due_at_once_leave_the_loop_to_others() -> None:
    async def scenario() -> None:
        clock = ManualClock()
        feed = Feed(
            Hub(MemoryEvents(42), now=clock), RULES, ConnectionLimits(5_000), dice=Random(7), sweep_seconds=0
        )
        pinged: list[PingedWriter] = []
        for _ in range(2_000):
            feed.open_connection(PingedWriter(pinged), FrameEncoding("plain"), "203.0.113.7").greet()
        feed.start()
        clock.now += 25
        most = 0
        while len(pinged) < 2_000:
            before = len(pinged)
            await asyncio.sleep(0)
            most = max(most, len(pinged) - before)
        assert 0 < most <= CHECKS_PER_TURN
        assert len(set(pinged)) == 2_000
        feed.close()

    run_scenario(scenario())
