"""Slow clients: the events they still get, when they are disconnected, and that others do not notice."""

import asyncio
import json
import time
from collections.abc import Iterable
from typing import Any

from feed.feed_server import FeedServer, ManualClock, next_message, run_scenario, running_feed, wait_until
from feed.raw_connection import CLOSE, TEXT, RawConnection
from silverball.feed.subscribers import LAGGING_BYTES, LAGGING_BYTES_MAX

# So small that a stalled client's socket is full after some hundred kilobytes.
WINDOW = 8_192


def _game(game_id: int, version: int, size: int = 8_000) -> str:
    return json.dumps({"gameId": game_id, "version": version, "filling": "x" * size})


async def _clog(server: FeedServer, games: Iterable[int], versions: int) -> None:
    """Publish updates of these games again and again, a few at a time."""
    for version in range(versions):
        for game_id in games:
            server.events.publish(42, "GameCreatedOrUpdated", _game(game_id, version))
        await asyncio.sleep(0)


async def _read_rest(raw: RawConnection) -> tuple[list[Any], int | None]:
    """Read until nothing more comes; return the texts, and the close code if there is one."""
    texts: list[Any] = []
    while True:
        try:
            async with asyncio.timeout(0.5):
                first, payload = await raw.read_frame()
        except TimeoutError:
            return texts, None
        if first == CLOSE:
            return texts, int.from_bytes(payload[:2])
        assert first == TEXT
        texts.append(json.loads(payload))


def test_a_lagging_client_gets_the_newest_state_of_each_object() -> None:
    async def scenario() -> None:
        async with running_feed(42, send_bytes=WINDOW) as server:
            raw = await RawConnection.open(server, receive_bytes=WINDOW)
            await raw.subscribe(42)
            raw.pause_reading()
            while not server.hub.metrics.lagging:
                await _clog(server, [1, 2, 3], 1)
            assert server.hub.metrics.conflated_total == 0
            await _clog(server, [1, 2, 3], 200)
            server.events.publish(42, "GamesDeleted", '{"tournamentId":42,"gameIds":[2]}')
            server.events.publish(42, "PlayersChanged", '{"tournamentId":42,"playerIds":[9]}')
            server.events.publish(42, "PlayersChanged", '{"tournamentId":42,"playerIds":[9]}')
            server.events.publish(42, "PlayersChanged", '{"tournamentId":42,"playerIds":[8]}')
            await wait_until(lambda: server.hub.metrics.conflated_total > 500)
            # The bytes in the socket, and the newest state of each object behind them.
            assert LAGGING_BYTES < server.feed.unsent_bytes < LAGGING_BYTES_MAX
            raw.resume_reading()
            texts, code = await _read_rest(raw)
            assert code is None
            # The events from before it lagged come in order, then the newest state of each object.
            numbers = [text["seq"] for text in texts]
            assert numbers == sorted(numbers)
            tail = [(text["event"], json.loads(text["data"])) for text in texts[-6:]]
            assert [(name, data.get("gameId"), data.get("version")) for name, data in tail[:3]] == [
                ("GameCreatedOrUpdated", game, 199) for game in (1, 2, 3)
            ]
            assert tail[3][0] == "GamesDeleted"
            assert [data["playerIds"] for _, data in tail[4:]] == [[9], [8]]
            # It no longer lags.
            await wait_until(lambda: server.hub.metrics.lagging == 0)
            assert server.feed.unsent_bytes == 0
            server.events.publish(42)
            assert (await raw.read_text())["seq"] == server.events.heads[42].seq
            await raw.hang_up()

    run_scenario(scenario())


def test_a_lagging_client_that_resumes_is_disconnected_and_comes_back_without_a_gap() -> None:
    async def scenario() -> None:
        async with running_feed(42, send_bytes=WINDOW) as server:
            raw = await RawConnection.open(server, receive_bytes=WINDOW)
            await raw.subscribe(42, resume={"epoch": "k3f9", "seq": 0})
            raw.pause_reading()
            while not server.hub.metrics.closes_total[4100]:
                await _clog(server, [1], 5)
                await asyncio.sleep(0.01)
            assert server.hub.metrics.subscriptions == 0
            raw.resume_reading()
            texts, code = await _read_rest(raw)
            assert code == 4100
            error = texts.pop()
            assert error["data"]["code"] == 4100
            numbers = [text["seq"] for text in texts]
            assert numbers == list(range(1, len(numbers) + 1))
            await raw.hang_up()
            again = await RawConnection.open(server)
            where = {"epoch": "k3f9", "seq": numbers[-1]}
            confirmed = json.loads((await again.subscribe(42, resume=where))["data"])
            missing = confirmed["seq"] - numbers[-1]
            if confirmed["recovered"]:
                assert [(await again.read_text())["seq"] for _ in range(missing)] == list(
                    range(numbers[-1] + 1, confirmed["seq"] + 1)
                )
            await again.hang_up()
            assert server.hub.metrics.slow_closes_total == 1

    run_scenario(scenario())


def test_a_client_with_too_much_queued_is_disconnected() -> None:
    async def scenario() -> None:
        async with running_feed(42, send_bytes=WINDOW) as server:
            raw = await RawConnection.open(server, receive_bytes=WINDOW)
            await raw.subscribe(42)
            raw.pause_reading()
            game_id = 0
            # Other games every time, so that no event replaces another.
            while not server.hub.metrics.closes_total[4100]:
                game_id += 5
                await _clog(server, range(game_id, game_id + 5), 1)
                await asyncio.sleep(0)
                assert game_id < 5_000
            assert server.hub.metrics.lagging == 0
            # The server does not wait for its answer for ever either.
            await wait_until(lambda: server.hub.metrics.connections == 0)
            await raw.hang_up()

    run_scenario(scenario())


def test_a_client_that_lags_for_half_a_minute_is_closed_and_then_cut_off() -> None:
    async def scenario() -> None:
        clock = ManualClock()
        async with running_feed(42, clock=clock, send_bytes=WINDOW) as server:
            raw = await RawConnection.open(server, receive_bytes=WINDOW)
            await raw.subscribe(42)
            raw.pause_reading()
            while not server.hub.metrics.lagging:
                await _clog(server, [1], 1)
            clock.now += 24
            await asyncio.sleep(0.1)
            assert server.hub.metrics.closes_total[4100] == 0
            clock.now += 7
            await wait_until(lambda: server.hub.metrics.closes_total[4100] == 1)
            assert server.hub.metrics.connections == 1
            clock.now += 5
            await wait_until(lambda: server.hub.metrics.connections == 0)
            await raw.hang_up()

    run_scenario(scenario())


def test_a_replay_does_not_get_a_client_disconnected() -> None:
    async def scenario() -> None:
        async with running_feed(42, send_bytes=WINDOW) as server:
            for number in range(120):
                server.events.append(42, data=_game(number, 0))
            raw = await RawConnection.open(server, receive_bytes=WINDOW)
            await raw.subscribe(42, resume={"epoch": "k3f9", "seq": 0})
            raw.pause_reading()
            await wait_until(lambda: server.hub.metrics.lagging == 1)
            # New events are queued behind it.
            for number in range(20):
                server.events.publish(42, data=_game(number, 1))
                await asyncio.sleep(0)
            raw.resume_reading()
            assert [(await raw.read_text())["seq"] for _ in range(140)] == list(range(1, 141))
            server.events.publish(42)
            assert (await raw.read_text())["seq"] == 141
            assert server.hub.metrics.lagging == 0
            await raw.hang_up()

    run_scenario(scenario())


def test_events_held_back_during_a_lookup_are_limited() -> None:
    async def scenario() -> None:
        async with running_feed(42) as server, server.follower(42):
            server.events.publish(42)
            server.events.gate = asyncio.Event()
            raw = await RawConnection.open(server)
            data = {"channel": "tournaments.42", "resume": {"epoch": "k3f9", "seq": 0}}
            raw.send(TEXT, json.dumps({"event": "pusher:subscribe", "data": data}).encode())
            await wait_until(lambda: server.hub.metrics.subscriptions == 2)
            size = 100_000
            for number in range(LAGGING_BYTES_MAX // size + 1):
                server.events.publish(42, data=_game(number, 0, size))
            assert await raw.read_close_code() == 4100
            await raw.hang_up()

    run_scenario(scenario())


def test_ten_stalled_clients_do_not_delay_the_others() -> None:
    async def scenario() -> None:
        async with running_feed(42, send_bytes=WINDOW) as server, server.follower(42) as other:
            stalled = [await RawConnection.open(server, receive_bytes=WINDOW) for _ in range(10)]
            for client in stalled:
                await client.subscribe(42)
                client.pause_reading()
            slowest = 0.0
            for version in range(300):
                began = time.perf_counter()
                server.events.publish(42, data=_game(version, 0, 4_000))
                assert (await next_message(other))["seq"] == version + 1
                slowest = max(slowest, time.perf_counter() - began)
            assert server.hub.metrics.lagging + server.hub.metrics.closes_total[4100] == 10
            # A thousand times the normal time; waiting for a stalled client takes seconds.
            assert slowest < 0.5
            for client in stalled:
                await client.hang_up()

    run_scenario(scenario())


def test_leaving_a_channel_drops_its_queued_events() -> None:
    async def scenario() -> None:
        async with running_feed(42, 43, send_bytes=WINDOW) as server:
            raw = await RawConnection.open(server, receive_bytes=WINDOW)
            await raw.subscribe(42)
            await raw.subscribe(43)
            raw.pause_reading()
            while not server.hub.metrics.lagging:
                await _clog(server, [1], 1)
            server.events.publish(42, data=_game(7, 7))
            server.events.publish(43, data=_game(8, 8))
            raw.send(TEXT, b'{"event":"pusher:unsubscribe","data":{"channel":"tournaments.42"}}')
            await wait_until(lambda: server.hub.metrics.subscriptions == 1)
            raw.resume_reading()
            texts, _ = await _read_rest(raw)
            assert texts[-1]["channel"] == "tournaments.43"
            assert all(json.loads(text["data"])["gameId"] != 7 for text in texts)
            await raw.hang_up()

    run_scenario(scenario())
