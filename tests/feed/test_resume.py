"""Resuming: the missed events follow in order, each once, or the client is told to read again."""

import asyncio
import json
from random import Random
from typing import Any

import pytest
from websockets.asyncio.client import ClientConnection

from feed.feed_server import (
    FeedServer,
    ManualClock,
    next_message,
    run_scenario,
    running_feed,
    subscribe,
    wait_until,
)
from silverball.kit.values import replace
from silverball.store.tournament.announcements import ChannelHead


async def _resume(client: ClientConnection, seq: int, epoch: str = "k3f9") -> dict[str, Any]:
    """Resume from a number; return the data of the confirmation."""
    await subscribe(client, 42, resume={"epoch": epoch, "seq": seq})
    message = await next_message(client)
    assert message["event"] == "pusher_internal:subscription_succeeded"
    assert isinstance(message["data"], str)
    data: dict[str, Any] = json.loads(message["data"])
    return data


async def _read_seqs(client: ClientConnection, count: int) -> list[int]:
    return [(await next_message(client))["seq"] for _ in range(count)]


def test_missed_events_follow_the_confirmation() -> None:
    async def scenario() -> None:
        async with running_feed(42) as server, server.client() as client:
            await next_message(client)
            for _ in range(5):
                server.events.append(42)
            assert await _resume(client, 2) == {"epoch": "k3f9", "seq": 5, "recovered": True}
            server.events.publish(42)
            assert await _read_seqs(client, 4) == [3, 4, 5, 6]
            assert server.hub.metrics.resumes_recovered_total == 1

    run_scenario(scenario())


def test_a_client_that_missed_nothing_costs_no_lookup_of_events() -> None:
    async def scenario() -> None:
        async with running_feed(42) as server, server.client() as client:
            await next_message(client)
            server.events.append(42)
            assert await _resume(client, 1) == {"epoch": "k3f9", "seq": 1, "recovered": True}
            assert ("since", 42) not in server.events.lookups
            server.events.publish(42)
            assert await _read_seqs(client, 1) == [2]

    run_scenario(scenario())


@pytest.mark.parametrize(
    ("seq", "epoch"),
    [(2, "k3f8"), (2, ""), (11, "k3f9"), (2**63 - 1, "k3f9"), (3, "k3f9")],
    ids=["another epoch", "no epoch", "ahead", "far ahead", "trimmed"],
)
def test_events_that_are_gone_are_reported_as_not_recovered(seq: int, epoch: str) -> None:
    async def scenario() -> None:
        async with running_feed(42) as server, server.client() as client:
            await next_message(client)
            for _ in range(10):
                server.events.append(42)
            server.events.heads[42] = replace(server.events.heads[42], low=4)
            assert await _resume(client, seq, epoch) == {"epoch": "k3f9", "seq": 10, "recovered": False}
            server.events.publish(42)
            assert await _read_seqs(client, 1) == [11]
            assert server.hub.metrics.resumes_lost_total == 1

    run_scenario(scenario())


def test_a_new_client_learns_the_channels_position() -> None:
    async def scenario() -> None:
        async with running_feed(42) as server, server.client() as client:
            await next_message(client)
            server.events.append(42)
            await subscribe(client, 42, resume={})
            position = json.loads((await next_message(client))["data"])
            assert position == {"epoch": "k3f9", "seq": 1, "recovered": False}

    run_scenario(scenario())


@pytest.mark.parametrize(("missed", "recovered"), [(500, True), (501, False)])
def test_five_hundred_events_are_replayed_and_not_one_more(missed: int, recovered: bool) -> None:
    async def scenario() -> None:
        async with running_feed(42) as server, server.client() as client:
            await next_message(client)
            for _ in range(missed):
                server.events.append(42)
            assert (await _resume(client, 0))["recovered"] is recovered
            if recovered:
                assert await _read_seqs(client, missed) == list(range(1, missed + 1))

    run_scenario(scenario())


@pytest.mark.parametrize(("size", "recovered"), [(100_000, True), (100_001, False)])
def test_a_million_bytes_are_replayed_and_not_one_more(size: int, recovered: bool) -> None:
    async def scenario() -> None:
        async with running_feed(42) as server, server.client() as client:
            await next_message(client)
            for _ in range(10):
                server.events.append(42, data="x" * size)
            assert (await _resume(client, 0))["recovered"] is recovered
            if recovered:
                assert await _read_seqs(client, 10) == list(range(1, 11))
            server.events.publish(42)
            assert await _read_seqs(client, 1) == [11]

    run_scenario(scenario())


def test_events_during_the_lookup_are_neither_lost_nor_doubled() -> None:
    async def scenario() -> None:
        async with running_feed(42) as server, server.follower(42), server.client() as client:
            await next_message(client)
            for _ in range(3):
                server.events.publish(42)
            server.events.gate = asyncio.Event()
            lookups = len(server.events.lookups)
            await subscribe(client, 42, resume={"epoch": "k3f9", "seq": 1})
            await wait_until(lambda: len(server.events.lookups) > lookups)
            # Committed and published while its head is being read, and after it was read.
            for _ in range(4):
                server.events.publish(42)
            server.events.gate.set()
            confirmed = json.loads((await next_message(client))["data"])
            assert confirmed["recovered"] is True
            server.events.publish(42)
            assert await _read_seqs(client, 7) == [2, 3, 4, 5, 6, 7, 8]

    run_scenario(scenario())


def test_a_slightly_old_head_makes_no_gap() -> None:
    async def scenario() -> None:
        async with running_feed(42) as server, server.follower(42), server.client() as client:
            await next_message(client)
            for _ in range(6):
                server.events.publish(42)
            # The log is behind the events that the hub has published.
            server.events.heads[42] = ChannelHead("k3f9", 4, 0)
            assert await _resume(client, 1) == {"epoch": "k3f9", "seq": 6, "recovered": True}
            assert await _read_seqs(client, 5) == [2, 3, 4, 5, 6]

    run_scenario(scenario())


def test_a_channel_that_starts_anew_tells_the_resuming_clients() -> None:
    async def scenario() -> None:
        async with running_feed(42) as server, server.client() as counting, server.follower(42) as plain:
            await next_message(counting)
            await _resume(counting, 0)
            server.events.heads[42] = ChannelHead("m111", 0, 0)
            server.hub.reset_channel(42, "m111", 0)
            position = json.loads((await next_message(counting))["data"])
            assert position == {"epoch": "m111", "seq": 0, "recovered": False}
            server.events.publish(42)
            for client in (counting, plain):
                event = await next_message(client)
                assert (event["epoch"], event["seq"]) == ("m111", 1)

    run_scenario(scenario())


def test_a_channel_that_starts_anew_during_the_lookup_is_not_recovered() -> None:
    async def scenario() -> None:
        async with running_feed(42) as server, server.follower(42), server.client() as client:
            await next_message(client)
            server.events.publish(42)
            server.events.publish(42)
            server.events.gate = asyncio.Event()
            lookups = len(server.events.lookups)
            await subscribe(client, 42, resume={"epoch": "k3f9", "seq": 1})
            await wait_until(lambda: len(server.events.lookups) > lookups)
            server.events.publish(42)
            server.hub.reset_channel(42, "m111", 0)
            server.events.rows[42] = []
            server.events.heads[42] = ChannelHead("m111", 0, 0)
            server.events.publish(42)
            server.events.gate.set()
            position = json.loads((await next_message(client))["data"])
            assert (position["epoch"], position["recovered"]) == ("m111", False)
            server.events.publish(42)
            seqs = [position["seq"], *await _read_seqs(client, 2 - position["seq"])]
            assert seqs in ([0, 1, 2], [1, 2])

    run_scenario(scenario())


def test_a_tournament_deleted_during_the_lookup_is_reported() -> None:
    async def scenario() -> None:
        async with running_feed(42) as server, server.follower(42), server.client() as client:
            await next_message(client)
            server.events.publish(42)
            server.events.gate = asyncio.Event()
            lookups = len(server.events.lookups)
            await subscribe(client, 42, resume={"epoch": "k3f9", "seq": 0})
            await wait_until(lambda: len(server.events.lookups) > lookups)
            del server.events.heads[42]
            server.hub.remove_tournament(42)
            server.events.gate.set()
            assert (await next_message(client))["data"]["status"] == 404
            await wait_until(lambda: not server.hub.watched_ids)

    run_scenario(scenario())


def test_disconnecting_during_the_lookup_leaves_nothing_behind() -> None:
    async def scenario() -> None:
        async with running_feed(42) as server:
            server.events.gate = asyncio.Event()
            for resume in ({}, {"resume": {"epoch": "k3f9", "seq": 0}}):
                async with server.client() as client:
                    await next_message(client)
                    await subscribe(client, 42, **resume)
                    await wait_until(lambda: bool(server.hub._tasks))
                await wait_until(lambda: server.hub.metrics.connections == 0)
            server.events.gate.set()
            await wait_until(
                lambda: not server.hub.watched_ids and not server.hub._channels and not server.hub._tasks
            )
            assert server.hub.metrics.subscriptions == 0

    run_scenario(scenario())


def test_an_unavailable_database_during_the_lookup_ends_the_subscription() -> None:
    async def scenario() -> None:
        async with running_feed(42) as server, server.follower(42), server.client() as client:
            await next_message(client)
            server.events.publish(42)
            server.events.is_broken = True
            await subscribe(client, 42, resume={"epoch": "k3f9", "seq": 0})
            assert (await next_message(client))["data"]["status"] == 503
            assert server.hub.metrics.subscriptions == 1

    run_scenario(scenario())


def test_a_quiet_channel_sends_its_position_to_the_resuming_clients() -> None:
    async def scenario() -> None:
        clock = ManualClock()
        async with (
            running_feed(42, clock=clock) as server,
            server.client() as counting,
            server.follower(42) as plain,
        ):
            await next_message(counting)
            await _resume(counting, 0)
            server.events.publish(42)
            assert await _read_seqs(counting, 1) == await _read_seqs(plain, 1) == [1]
            clock.now += 30
            assert await counting.recv() == (
                '{"event":"silverball:tick","channel":"tournaments.42",'
                '"data":"{\\"epoch\\":\\"k3f9\\",\\"seq\\":1}"}'
            )
            server.events.publish(42)
            assert await _read_seqs(counting, 1) == await _read_seqs(plain, 1) == [2]

    run_scenario(scenario())


def test_after_a_pause_a_tick_names_no_event_that_was_not_sent() -> None:
    async def scenario() -> None:
        clock = ManualClock()
        async with running_feed(42, clock=clock) as server, server.client() as client:
            await next_message(client)
            await _resume(client, 0)
            # Other nodes went on, and this one has not looked yet.
            for _ in range(3):
                server.events.append(42)
            clock.now += 30
            tick = json.loads((await next_message(client))["data"])
            assert tick == {"epoch": "k3f9", "seq": 0}
            # The loop has been elsewhere: more is published than one turn can send, then a tick is due.
            server.events.publish(42)
            clock.now += 30
            server.hub.sweep(clock.now)
            assert await _read_seqs(client, 4) == [1, 2, 3, 4]
            assert json.loads((await next_message(client))["data"])["seq"] == 4

    run_scenario(scenario())


@pytest.mark.parametrize("number", [0, 2, 3])
def test_no_event_is_repeated_on_a_connection_that_resumes_again(number: int) -> None:
    async def scenario() -> None:
        async with running_feed(42) as server, server.client() as client:
            await next_message(client)
            await _resume(client, 0)
            for _ in range(3):
                server.events.publish(42)
            # The client asks before it has read what is on its way.
            await subscribe(client, 42, resume={"epoch": "k3f9", "seq": number})
            assert await _read_seqs(client, 3) == [1, 2, 3]
            confirmed = json.loads((await next_message(client))["data"])
            assert confirmed == {"epoch": "k3f9", "seq": 3, "recovered": True}
            server.events.publish(42)
            assert await _read_seqs(client, 1) == [4]

    run_scenario(scenario())


def test_who_asks_for_events_from_before_their_connection_still_gets_them() -> None:
    async def scenario() -> None:
        async with running_feed(42) as server, server.client() as client:
            await next_message(client)
            for _ in range(3):
                server.events.append(42)
            assert (await _resume(client, 0, "k3f8"))["recovered"] is False
            assert (await _resume(client, 1))["recovered"] is True
            assert await _read_seqs(client, 2) == [2, 3]

    run_scenario(scenario())


def test_a_busy_channel_sends_no_ticks() -> None:
    async def scenario() -> None:
        clock = ManualClock()
        async with running_feed(42, clock=clock) as server, server.client() as counting:
            await next_message(counting)
            await _resume(counting, 0)
            for seq in range(1, 5):
                clock.now += 12
                await asyncio.sleep(0.05)
                server.events.publish(42)
                assert await _read_seqs(counting, 1) == [seq]

    run_scenario(scenario())


async def _follow_at_random(
    server: FeedServer, dice: Random, seqs: list[int], is_over: asyncio.Event
) -> None:
    """Follow, disconnect at random, and resume."""
    last = 0
    while not is_over.is_set() or last < server.events.heads[42].seq:
        async with server.client() as client:
            await next_message(client)
            assert (await _resume(client, last))["recovered"]
            for _ in range(dice.randrange(1, 30)):
                try:
                    async with asyncio.timeout(0.2):
                        text = json.loads(await client.recv())
                except TimeoutError:
                    break
                if "seq" in text:
                    last = text["seq"]
                    seqs.append(last)


def test_a_client_that_resumes_again_and_again_gets_every_event_once() -> None:
    async def scenario() -> None:
        dice = Random(7)
        async with running_feed(42) as server:
            is_over = asyncio.Event()
            seqs_by_client: list[list[int]] = [[] for _ in range(10)]
            visits = [
                _follow_at_random(server, Random(seed), seqs_by_client[seed], is_over) for seed in range(10)
            ]
            tasks = [asyncio.ensure_future(visit) for visit in visits]
            for _ in range(150):
                for _ in range(dice.randrange(1, 4)):
                    server.events.publish(42, data=json.dumps({"gameId": 1, "x": "y" * 500}))
                await asyncio.sleep(0.002)
            is_over.set()
            await asyncio.gather(*tasks)
            everything = list(range(1, server.events.heads[42].seq + 1))
            assert seqs_by_client == [everything] * 10

    run_scenario(scenario())


@pytest.mark.parametrize("seed", range(12))
def test_every_subscription_is_confirmed_and_the_last_request_counts(seed: int) -> None:
    async def scenario() -> None:
        dice = Random(seed)
        async with running_feed(42) as server, server.follower(42) as other, server.client() as client:
            await next_message(client)
            request_count, received, follows = 0, [], False
            for _ in range(50):
                kind = dice.choice(["plain", "resume", "leave", "pause", "event"])
                if kind == "pause":
                    await asyncio.sleep(dice.choice([0, 0, 0.001, 0.003]))
                elif kind == "event":
                    server.events.publish(42)
                elif kind == "leave":
                    await client.send('{"event":"pusher:unsubscribe","data":{"channel":"tournaments.42"}}')
                    follows = False
                else:
                    resume = {"epoch": "k3f9", "seq": server.events.heads[42].seq}
                    await subscribe(client, 42, **({"resume": resume} if kind == "resume" else {}))
                    request_count, follows = request_count + 1, True
            await client.send('{"event":"pusher:ping"}')
            while (text := await next_message(client))["event"] != "pusher:pong":
                received.append(text)
            # What was asked before is under way; now it is done.
            await wait_until(lambda: not server.hub._tasks)
            server.events.publish(42, "TournamentUpdated")
            while (await next_message(other))["event"] != "TournamentUpdated":
                pass
            await client.send('{"event":"client-over","data":{}}')
            while (text := await next_message(client))["event"] != "pusher:error":
                received.append(text)
            confirmed = [text for text in received if text["event"].endswith("succeeded")]
            assert len(confirmed) == request_count
            assert (received[-1]["event"] == "TournamentUpdated") is follows
            assert server.hub.metrics.subscriptions == 1 + follows
            assert not server.hub._tasks

    run_scenario(scenario())
