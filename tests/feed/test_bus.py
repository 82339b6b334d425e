"""Nudges between nodes over Redis: on a channel with the prefix; nothing is stored."""

import asyncio
from collections.abc import Collection

from redis.asyncio import Redis as Client

from feed.feed_server import run_scenario
from feed.redis_server import RedisServer
from feed.running_program import wait_until
from silverball.feed.bus import RedisBus

# The channels that a node is nudged to check; None: all of them.
Heard = list[Collection[int] | None]


def _node(redis: RedisServer, prefix: str, heard: Heard) -> RedisBus:
    bus = RedisBus(f"redis://127.0.0.1:{redis.port}/0", prefix)
    bus.start(heard.append)
    return bus


def test_nodes_of_one_prefix_nudge_each_other_and_nobody_else(redis: RedisServer) -> None:
    async def scenario() -> None:
        first: Heard = []
        second: Heard = []
        strangers: Heard = []
        named = (("mine", first), ("mine", second), ("theirs", strangers))
        nodes = [_node(redis, prefix, heard) for prefix, heard in named]
        await wait_until(lambda: all(heard == [None] for heard in (first, second, strangers)))
        async with Client.from_url(f"redis://127.0.0.1:{redis.port}/0") as client, client.pubsub() as ear:
            await ear.psubscribe("*")
            await ear.get_message(timeout=5)
            nodes[0].send_nudges({42: 7})
            nudge = await ear.get_message(timeout=5)
            assert (nudge["channel"], nudge["data"]) == (b"mine:feed", b"42 7")
            await wait_until(lambda: [42] in first and [42] in second)
            assert await client.keys("*") == []
        assert strangers == [None]
        for node in nodes:
            await node.close()

    run_scenario(scenario())


def test_a_node_checks_all_channels_when_its_redis_comes_back(redis: RedisServer) -> None:
    async def scenario() -> None:
        heard: Heard = []
        node = _node(redis, "mine", heard)
        await wait_until(lambda: heard == [None])
        await asyncio.to_thread(redis.kill)
        await asyncio.to_thread(redis.start)
        # Each of the two connections nudges once when it is lost or restored.
        await wait_until(lambda: heard.count(None) >= 3)

        def nudged() -> bool:
            node.send_nudges({42: 8})
            return [42] in heard

        await wait_until(nudged)
        await node.close()

    run_scenario(scenario())


def test_a_malformed_nudge_is_ignored(redis: RedisServer) -> None:
    async def scenario() -> None:
        heard: Heard = []
        node = _node(redis, "mine", heard)
        await wait_until(lambda: heard == [None])
        async with Client.from_url(f"redis://127.0.0.1:{redis.port}/0") as client:
            for payload in (b"", b"x 7", b"-1 7", b"\xff", b"9" * 20, "٤٢ 7".encode(), b"43 7"):
                await client.publish("mine:feed", payload)
        await wait_until(lambda: len(heard) > 1)
        assert heard == [None, [43]]
        await node.close()

    run_scenario(scenario())
