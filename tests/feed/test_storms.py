"""Many clients come back with the same number: one lookup, one encoding, and the loop keeps turning."""

import asyncio
import json
import re
from collections.abc import Callable

import pytest

from feed.feed_server import ManualClock, MemoryEvents, run_scenario, running_feed, wait_until
from feed.raw_connection import TEXT, RawConnection
from silverball.feed.hub import Hub
from silverball.feed.messages import FrameEncoding, OutgoingEvent
from silverball.feed.protocol import Close, Resume, Subscribe
from silverball.feed.replays import CLIENTS_PER_TURN, KEPT_SECONDS, PIECE_BYTES_MAX, Pacer, Replay
from silverball.feed.subscribers import LAGGING_BYTES, Subscriber

ENCODING = FrameEncoding("plain")
CLIENTS = 1_000


class FakeTransports:
    """Sockets that take everything, and count what they take between two turns of the loop."""

    def __init__(self, hub: Hub) -> None:
        self.received: dict[int, bytes] = {}
        self.served_most = 0
        self._hub = hub
        self._served: set[int] = set()

    def subscriber(self, number: int) -> Subscriber:
        """A connection whose bytes arrive here."""

        def write(frames: bytes) -> None:
            self.received[number] = self.received.get(number, b"") + frames
            self._served.add(number)

        def disconnect(_close: Close) -> None:
            raise AssertionError("nobody is to be disconnected")

        return Subscriber(
            ENCODING,
            self._hub.metrics,
            write=write,
            buffered_bytes=lambda: 0,
            disconnect=disconnect,
            now=self._hub.now,
        )

    async def watch_turns(self, until: int) -> None:
        """Note how many clients one turn of the loop serves at most, until so many are served."""
        while len(self.received) < until:
            self._served.clear()
            await asyncio.sleep(0)
            self.served_most = max(self.served_most, len(self._served))


class ManualPacer(Pacer):
    """Turns that come when the test says so."""

    def __init__(self) -> None:
        super().__init__()
        self.waiting: list[Callable[[], None]] = []

    def call(self, work: Callable[[], None]) -> None:
        self.waiting.append(work)

    def run_all(self) -> None:
        for work in self.waiting:
            work()
        self.waiting.clear()


def log_with_events(count: int, data: str = "{}") -> MemoryEvents:
    events = MemoryEvents(42)
    for _ in range(count):
        events.append(42, data=data)
    return events


def resume(hub: Hub, subscriber: Subscriber, seq: int) -> None:
    hub.handle_request(subscriber, Subscribe(42, resume=Resume("k3f9", seq)))


@pytest.mark.parametrize("is_slow", [False, True], ids=["lookups at once", "lookups that wait"])
def test_a_thousand_with_one_number_are_one_lookup_and_leave_the_loop_to_others(is_slow: bool) -> None:
    async def scenario() -> None:
        events = log_with_events(46)
        hub = Hub(events, now=ManualClock())
        transports = FakeTransports(hub)
        if is_slow:
            events.gate = asyncio.Event()
        for number in range(CLIENTS):
            resume(hub, transports.subscriber(number), 0)
        if events.gate is not None:
            for _ in range(3 * CLIENTS // CLIENTS_PER_TURN):
                await asyncio.sleep(0)
            events.gate.set()
        await transports.watch_turns(CLIENTS)
        assert events.lookups == [("head", 42), ("since", 42)]
        assert 0 < transports.served_most <= CLIENTS_PER_TURN
        assert len(set(transports.received.values())) == 1
        received = transports.received[0]
        assert [received.index(b'"seq":%d,' % seq) for seq in range(1, 47)] == sorted(
            received.index(b'"seq":%d,' % seq) for seq in range(1, 47)
        )

    run_scenario(scenario())


def test_an_event_that_comes_meanwhile_follows_once() -> None:
    async def scenario() -> None:
        events = log_with_events(5)
        hub = events.hub = Hub(events, now=ManualClock())
        transports = FakeTransports(hub)
        for number in range(200):
            resume(hub, transports.subscriber(number), 2)
        while not transports.received:
            await asyncio.sleep(0)
        events.publish(42)
        await transports.watch_turns(200)
        await asyncio.sleep(0.05)
        for received in transports.received.values():
            assert [received.count(b'"seq":%d,' % seq) for seq in (2, 3, 4, 5, 6)] == [0, 1, 1, 1, 1]

    run_scenario(scenario())


def test_the_events_of_one_moment_go_out_in_pieces_that_no_socket_lags_behind() -> None:
    async def scenario() -> None:
        events = log_with_events(0)
        hub = events.hub = Hub(events, now=ManualClock())
        pieces: list[bytes] = []
        subscriber = Subscriber(
            ENCODING,
            hub.metrics,
            write=pieces.append,
            buffered_bytes=lambda: 0,
            disconnect=lambda _close: None,
            now=hub.now,
        )
        hub.handle_request(subscriber, Subscribe(42))
        await wait_until(lambda: bool(pieces))
        pieces.clear()
        for _ in range(40):
            events.publish(42, data=json.dumps({"gameId": 1, "filling": "x" * 10_000}))
        await wait_until(lambda: hub.metrics.events_total == 40)
        numbers = [int(number) for number in re.findall(rb'"seq":([0-9]+),', b"".join(pieces))]
        assert numbers == list(range(1, 41))
        assert 1 < len(pieces) < 10
        assert max(map(len, pieces)) < LAGGING_BYTES

    run_scenario(scenario())


def test_a_lookup_is_not_shared_past_a_commit_or_a_quarter_of_a_second() -> None:
    async def scenario() -> None:
        events, clock = log_with_events(5), ManualClock()
        hub = Hub(events, now=clock)
        transports = FakeTransports(hub)

        async def come_back(number: int) -> int:
            resume(hub, transports.subscriber(number), 2)
            await transports.watch_turns(number + 1)
            return events.lookups.count(("since", 42))

        assert [await come_back(number) for number in range(3)] == [1, 1, 1]
        hub.replays.forget()
        assert await come_back(3) == 2
        clock.now += KEPT_SECONDS
        assert await come_back(4) == 3

    run_scenario(scenario())


def test_a_failed_lookup_is_told_to_all_and_made_again() -> None:
    async def scenario() -> None:
        events = log_with_events(5)
        hub = Hub(events, now=ManualClock())
        transports = FakeTransports(hub)
        resume(hub, transports.subscriber(0), 2)
        await transports.watch_turns(1)
        hub.replays.forget()
        events.is_broken = True
        for number in range(1, 101):
            resume(hub, transports.subscriber(number), 2)
        await transports.watch_turns(101)
        assert all(b"503" in transports.received[number] for number in range(1, 101))
        events.is_broken = False
        hub.replays.forget()
        resume(hub, transports.subscriber(101), 2)
        await transports.watch_turns(102)
        assert b'recovered\\":true' in transports.received[101]

    run_scenario(scenario())


def test_a_long_replay_goes_out_in_pieces() -> None:
    events = log_with_events(10, data='"' + "x" * 30_000 + '"')
    replay = Replay(events.heads[42], [OutgoingEvent(row) for row in events.rows[42]])
    pieces = replay.pieces(ENCODING)
    assert [key for key, _ in pieces] == [(42, 3), (42, 6), (42, 9), (42, 10)]
    assert all(len(frames) < PIECE_BYTES_MAX + 40_000 for _, frames in pieces)
    whole = b"".join(frames for _, frames in pieces)
    assert whole == b"".join(event.encode(ENCODING) for event in replay.events)
    assert replay.pieces(ENCODING) is pieces


def test_handshakes_that_come_at_once_leave_the_loop_to_others() -> None:
    async def scenario() -> None:
        async with running_feed(42) as server:
            server.feed.handshakes = Pacer(3)
            opened_most = 0

            async def watch_turns() -> None:
                nonlocal opened_most
                while server.hub.metrics.connections < 60:
                    before = server.hub.metrics.connections
                    await asyncio.sleep(0)
                    opened_most = max(opened_most, server.hub.metrics.connections - before)

            watching = asyncio.create_task(watch_turns())
            clients = await asyncio.gather(*(RawConnection.open(server) for _ in range(60)))
            await watching
            # Those that are read between two turns may use what the turn before left.
            assert 0 < opened_most <= 6
            confirmed = await asyncio.gather(*(client.subscribe(42) for client in clients))
            assert {each["event"] for each in confirmed} == {"pusher_internal:subscription_succeeded"}
            for client in clients:
                await client.hang_up()

    run_scenario(scenario())


def test_what_follows_before_the_turn_of_a_handshake_waits_behind_it() -> None:
    async def scenario() -> None:
        async with running_feed(42) as server:
            turns = server.feed.handshakes = ManualPacer()
            opening = asyncio.create_task(RawConnection.open(server))
            await wait_until(lambda: len(turns.waiting) == 1)
            asked = {"event": "pusher:subscribe", "data": {"channel": "tournaments.42"}}
            early = RawConnection.frame(TEXT, json.dumps(asked).encode())
            next(iter(server.uvicorn_server.server_state.connections)).data_received(early)
            assert len(turns.waiting) == 2
            turns.run_all()
            client = await opening
            assert (await client.read_text())["event"] == "pusher_internal:subscription_succeeded"
            await client.hang_up()

    run_scenario(scenario())


def test_a_connection_that_is_lost_before_its_turn_is_never_opened() -> None:
    async def scenario() -> None:
        async with running_feed(42) as server:
            turns = server.feed.handshakes = ManualPacer()
            _, writer = await asyncio.open_connection("127.0.0.1", server.port)
            writer.write(RawConnection.handshake(server))
            await wait_until(lambda: len(turns.waiting) == 1)
            writer.close()
            await writer.wait_closed()
            await wait_until(lambda: not server.uvicorn_server.server_state.connections)
            turns.run_all()
            assert server.hub.metrics.connections_total == 0

    run_scenario(scenario())
