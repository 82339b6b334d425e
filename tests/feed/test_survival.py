"""Killed servers and a lost Redis: clients that resume miss no event."""

import asyncio
import threading
import time
from collections.abc import Iterator
from random import Random
from typing import Any

import pytest
import uvloop

import build
from feed.followers import Follower, Writer, newest_seq, wait_for_all
from feed.redis_server import RedisServer
from feed.running_program import admin_token
from servers import Servers
from silverball.store.database.engine import Store

WRITES = 1_000
CLIENTS = 50
KILLS = 6


def test_fifty_followers_of_a_server_that_is_killed_miss_nothing(store: Store, database_url: str) -> None:
    tournament_id = build.a_tournament(store, players=2, arenas=0).tournament_id
    servers = Servers.without_limits(database_url)
    servers.start()
    writer = Writer([servers], tournament_id, admin_token(store))
    epoch = build.public_epoch(store)
    followers = [Follower([servers], tournament_id, n, epoch) for n in range(CLIENTS)]

    async def scenario() -> None:
        until = asyncio.Event()
        tasks = [asyncio.ensure_future(follower.follow(until)) for follower in followers]
        writing = threading.Thread(target=writer.run, args=(WRITES,))
        writing.start()
        for kill in range(1, KILLS + 1):
            while writer.done < WRITES * kill // (KILLS + 1):
                await asyncio.sleep(0.01)
            servers.kill()
            await asyncio.to_thread(servers.start)
        await asyncio.to_thread(writing.join)
        await wait_for_all(followers, newest_seq(store, tournament_id))
        until.set()
        await asyncio.gather(*tasks)

    try:
        uvloop.run(scenario())
    finally:
        servers.close()
    assert newest_seq(store, tournament_id) == WRITES
    assert all(follower.seen == list(range(1, WRITES + 1)) for follower in followers)
    assert all(follower.connections > KILLS for follower in followers)


@pytest.fixture
def shared(postgresql: Any) -> Iterator[str]:
    """The address of a PostgreSQL database for several nodes."""
    url = postgresql.new_database()
    yield url
    postgresql.drop(url)


def test_two_nodes_lose_nothing_and_keep_the_order_while_redis_is_killed(
    shared: str, redis: RedisServer
) -> None:
    store = Store(shared)
    tournament_id = build.a_tournament(store, players=2, arenas=0).tournament_id
    nodes = [
        Servers.without_limits(shared, SILVERBALL_REDIS_URL=f"redis://127.0.0.1:{redis.port}/0")
        for _ in range(2)
    ]
    for node in nodes:
        node.start()
    writer = Writer(nodes, tournament_id, admin_token(store))
    epoch = build.public_epoch(store)
    followers = [Follower(nodes, tournament_id, n, epoch) for n in range(20)]

    async def scenario() -> None:
        until = asyncio.Event()
        tasks = [asyncio.ensure_future(follower.follow(until)) for follower in followers]
        writing = threading.Thread(target=writer.run, args=(600,))
        writing.start()
        dice = Random(4)
        for part in (100, 300):
            while writer.done < part:
                await asyncio.sleep(0.01)
            await asyncio.to_thread(redis.kill)
            await asyncio.sleep(dice.uniform(0.5, 1.5))
            await asyncio.to_thread(redis.start)
        await asyncio.to_thread(writing.join)
        await wait_for_all(followers, 600)
        until.set()
        await asyncio.gather(*tasks)

    try:
        uvloop.run(scenario())
    finally:
        for node in nodes:
            node.close()
        store.close()
    # Each number came once and in order, and no connection was lost.
    assert all(follower.seen == list(range(1, 601)) for follower in followers)
    assert all(follower.connections == 1 for follower in followers)


@pytest.mark.parametrize("bus", ["redis", "notify"])
def test_a_nudge_is_quicker_than_polling(bus: str, shared: str, request: pytest.FixtureRequest) -> None:
    settings = {}
    if bus == "redis":
        settings["SILVERBALL_REDIS_URL"] = f"redis://127.0.0.1:{request.getfixturevalue('redis').port}/0"
    store = Store(shared)
    tournament_id = build.a_tournament(store, players=2, arenas=0).tournament_id
    nodes = [Servers.without_limits(shared, **settings) for _ in range(2)]
    for node in nodes:
        node.start()
    # Written at the first node, followed at the second.
    writer, follower = (
        Writer(nodes[:1], tournament_id, admin_token(store)),
        Follower(nodes[1:], tournament_id, 0, build.public_epoch(store)),
    )
    waits: list[float] = []

    async def scenario() -> None:
        until = asyncio.Event()
        task = asyncio.ensure_future(follower.follow(until))
        while not follower.connections:
            await asyncio.sleep(0.05)
        for n in range(20):
            await asyncio.sleep(0.07)
            began = time.monotonic()
            await asyncio.to_thread(writer.run_one, n)
            await wait_for_all([follower], n + 1)
            waits.append(time.monotonic() - began)
        until.set()
        await task

    try:
        uvloop.run(scenario())
    finally:
        for node in nodes:
            node.close()
        store.close()
    # Polling alone would take half a second on average.
    assert sorted(waits)[len(waits) // 2] < 0.4
