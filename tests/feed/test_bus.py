"""Nudges between nodes over Redis: on a channel with the prefix, and nothing is kept there."""

import asyncio
from collections.abc import Collection

from redis.asyncio import Redis as Client

from feed.redis_server import Redis
from feed.serving import run
from feed.whole import eventually
from silverball.feed.bus import RedisBus

# What a node is told to look at; None: everything.
Heard = list[Collection[int] | None]


def _node(redis: Redis, prefix: str, heard: Heard) -> RedisBus:
    bus = RedisBus(f"redis://127.0.0.1:{redis.port}/0", prefix)
    bus.start(heard.append)
    return bus


def test_nodes_of_one_prefix_nudge_each_other_and_nobody_else(redis: Redis) -> None:
    async def scenario() -> None:
        one: Heard = []
        other: Heard = []
        strangers: Heard = []
        named = (("mine", one), ("mine", other), ("theirs", strangers))
        nodes = [_node(redis, prefix, heard) for prefix, heard in named]
        await eventually(lambda: all(heard == [None] for heard in (one, other, strangers)))
        async with Client.from_url(f"redis://127.0.0.1:{redis.port}/0") as client, client.pubsub() as ear:
            await ear.psubscribe("*")
            await ear.get_message(timeout=5)
            nodes[0].tell({42: 7})
            told = await ear.get_message(timeout=5)
            assert (told["channel"], told["data"]) == (b"mine:feed", b"42 7")
            await eventually(lambda: [42] in one and [42] in other)
            assert await client.keys("*") == []
        assert strangers == [None]
        for node in nodes:
            await node.close()

    run(scenario())


def test_a_node_whose_redis_was_away_looks_at_everything_and_hears_again(redis: Redis) -> None:
    async def scenario() -> None:
        heard: Heard = []
        node = _node(redis, "mine", heard)
        await eventually(lambda: heard == [None])
        await asyncio.to_thread(redis.kill)
        await asyncio.to_thread(redis.start)
        # Once when it is lost or found again, by each of the two connections.
        await eventually(lambda: heard.count(None) >= 3)

        def nudged() -> bool:
            node.tell({42: 8})
            return [42] in heard

        await eventually(nudged)
        await node.close()

    run(scenario())


def test_what_is_no_nudge_is_passed_over(redis: Redis) -> None:
    async def scenario() -> None:
        heard: Heard = []
        node = _node(redis, "mine", heard)
        await eventually(lambda: heard == [None])
        async with Client.from_url(f"redis://127.0.0.1:{redis.port}/0") as client:
            for payload in (b"", b"x 7", b"-1 7", b"\xff", b"9" * 20, "٤٢ 7".encode(), b"43 7"):
                await client.publish("mine:feed", payload)
        await eventually(lambda: len(heard) > 1)
        assert heard == [None, [43]]
        await node.close()

    run(scenario())
