"""Compact resumes: after a long absence the newest event of each thing, made once for all who ask."""

import asyncio
import json
from random import Random
from typing import Any

import pytest
from websockets.asyncio.client import ClientConnection

from feed.feed_server import ManualClock, MemoryEvents, next_message, run_scenario, running_feed, subscribe
from feed.test_storms import FakeTransports
from silverball.feed.hub import Hub
from silverball.feed.protocol import Resume, Subscribe
from silverball.feed.replays import COMPACTION_SECONDS
from silverball.kit.values import replace

CLIENTS = 400


def add_games(events: MemoryEvents, count: int, *, games: int = 20, filling: int = 0) -> None:
    """Add events of some games, of which each is announced again and again."""
    for number in range(count):
        data = {"gameId": number % games, "turn": number, "filling": "x" * filling}
        events.append(42, data=json.dumps(data))


async def _resume(client: ClientConnection, seq: int, **more: Any) -> dict[str, Any]:
    await subscribe(client, 42, resume={"epoch": "k3f9", "seq": seq}, **more)
    data: dict[str, Any] = json.loads((await next_message(client))["data"])
    return data


@pytest.mark.parametrize("missed", [501, 9_999, 10_000])
def test_of_thousands_of_missed_events_the_newest_of_each_thing_follow(missed: int) -> None:
    async def scenario() -> None:
        async with running_feed(42) as server, server.client() as client:
            await next_message(client)
            add_games(server.events, 10_001)
            position = {"epoch": "k3f9", "seq": 10_001, "recovered": True, "compacted": True}
            assert await _resume(client, 10_001 - missed, compact=True) == position
            server.events.publish(42)
            received = [await next_message(client) for _ in range(21)]
            assert [event["seq"] for event in received] == list(range(10_001 - 19, 10_003))
            assert sorted(json.loads(event["data"])["gameId"] for event in received[:-1]) == list(range(20))

    run_scenario(scenario())


@pytest.mark.parametrize(
    ("missed", "compact", "low"),
    [(10_001, True, 0), (501, False, 0), (700, True, 9_302)],
    ids=["too many", "not asked for", "not kept"],
)
def test_who_missed_too_much_is_told_to_read_everything(missed: int, compact: bool, low: int) -> None:
    async def scenario() -> None:
        async with running_feed(42) as server, server.client() as client:
            await next_message(client)
            add_games(server.events, 10_001)
            server.events.heads[42] = replace(server.events.heads[42], low=low)
            lost = {"epoch": "k3f9", "seq": 10_001, "recovered": False}
            assert await _resume(client, 10_001 - missed, compact=compact) == lost

    run_scenario(scenario())


@pytest.mark.parametrize(("games", "recovered"), [(9, True), (12, False)])
def test_a_compact_replay_has_a_megabyte_at_most(games: int, recovered: bool) -> None:
    async def scenario() -> None:
        async with running_feed(42) as server, server.client() as client:
            await next_message(client)
            # Each event is a tenth of it, and they are fewer than five hundred.
            add_games(server.events, 40, games=games, filling=99_900)
            answer = await _resume(client, 0, compact=True)
            assert (answer["recovered"], answer.get("compacted", False)) == (recovered, recovered)
            if recovered:
                assert [(await next_message(client))["seq"] for _ in range(games)] == list(range(32, 41))

    run_scenario(scenario())


def test_few_missed_events_are_sent_whole() -> None:
    async def scenario() -> None:
        async with running_feed(42) as server, server.client() as client:
            await next_message(client)
            add_games(server.events, 500)
            assert await _resume(client, 0, compact=True) == {"epoch": "k3f9", "seq": 500, "recovered": True}
            assert [(await next_message(client))["seq"] for _ in range(500)] == list(range(1, 501))

    run_scenario(scenario())


def test_it_is_made_once_for_all_who_come_back_whatever_their_number() -> None:
    async def scenario() -> None:
        events, clock, dice = MemoryEvents(42), ManualClock(), Random(7)
        add_games(events, 2_000)
        hub = events.hub = Hub(events, now=clock)
        transports = FakeTransports(hub)

        async def come_back(numbers: range) -> None:
            for number in numbers:
                request = Subscribe(42, resume=Resume("k3f9", dice.randrange(1_400), is_compact=True))
                hub.handle_request(transports.subscriber(number), request)
            while len(transports.received) < numbers.stop:
                await asyncio.sleep(0)

        await come_back(range(CLIENTS))
        reads = events.lookups.count(("since", 42))
        assert reads == 4
        # A change between them is added to what is there.
        events.publish(42, data='{"gameId":3,"turn":2000}')
        await come_back(range(CLIENTS, 2 * CLIENTS))
        assert events.lookups.count(("since", 42)) == reads + 1
        for number, received in transports.received.items():
            assert received.count(b'"compacted\\":true') == 1, number
            assert received.count(b'\\"turn\\":2000}') == 1, number
        # It is made anew after a while, and when something was hidden.
        for seconds in (0.0, COMPACTION_SECONDS):
            clock.now += seconds
            if not seconds:
                hub.replays.forget()
            reads = events.lookups.count(("since", 42))
            await come_back(range(len(transports.received), len(transports.received) + 1))
            assert events.lookups.count(("since", 42)) == reads + 5

    run_scenario(scenario())


def test_what_changes_while_it_is_made_comes_once() -> None:
    async def scenario() -> None:
        async with running_feed(42) as server, server.follower(42), server.client() as client:
            await next_message(client)
            add_games(server.events, 600)
            server.events.publish(42, data='{"gameId":0,"turn":600}')
            server.events.gate = asyncio.Event()
            lookups = len(server.events.lookups)
            await subscribe(client, 42, resume={"epoch": "k3f9", "seq": 1}, compact=True)
            while len(server.events.lookups) == lookups:
                await asyncio.sleep(0.005)
            server.events.publish(42, data='{"gameId":7,"turn":601}')
            server.events.gate.set()
            assert json.loads((await next_message(client))["data"])["compacted"] is True
            received = [await next_message(client) for _ in range(21)]
            newest = {json.loads(event["data"])["gameId"]: event["seq"] for event in received}
            assert newest == {**{number: 581 + number for number in range(20)}, 0: 601, 7: 602}
            assert received[-1]["seq"] == 602

    run_scenario(scenario())
