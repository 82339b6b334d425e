"""Nudges between nodes: over Redis on a channel with the prefix, where nothing is stored, or over NOTIFY."""

import asyncio
import os
import subprocess
import sys
import time
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

import pytest
from redis.asyncio import Redis as Client
from sqlalchemy import make_url

import build
from feed.feed_server import next_message, run_scenario
from feed.redis_server import RedisServer
from feed.running_program import announce, running_program, wait_until
from silverball.feed.bus import PostgreSQLBus, RedisBus
from silverball.store.database.engine import Store
from tcp_proxy import TcpProxy

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


@pytest.fixture
def shared(postgresql: Any) -> Iterator[str]:
    """The address of a PostgreSQL database for several nodes."""
    url = postgresql.new_database()
    yield url
    postgresql.drop(url)


def _bus_through(proxy: TcpProxy, kind: str, url: str) -> RedisBus | PostgreSQLBus:
    if kind == "redis":
        return RedisBus(f"redis://127.0.0.1:{proxy.port}/0", "mine")
    behind = make_url(url).set(host="127.0.0.1", port=proxy.port, query={})
    return PostgreSQLBus(behind.render_as_string(hide_password=False))


@pytest.mark.parametrize("kind", ["redis", "notify"])
def test_a_connection_that_died_without_a_word_is_noticed_in_five_seconds(
    kind: str, request: pytest.FixtureRequest
) -> None:
    url = ""
    target: Any
    if kind == "redis":
        target = ("127.0.0.1", request.getfixturevalue("redis").port)
    else:
        url = request.getfixturevalue("shared")
        target = Path(str(make_url(url).query["host"])) / ".s.PGSQL.5432"

    async def scenario() -> None:
        heard: Heard = []
        with TcpProxy(target) as proxy:
            bus = _bus_through(proxy, kind, url)
            bus.start(heard.append)
            await wait_until(lambda: heard == [None])
            proxy.blackhole()
            began = time.monotonic()
            # A lost connection nudges about everything before the next attempt.
            await wait_until(lambda: len(heard) > 1)
            assert time.monotonic() - began < 5 + 1
            proxy.forward(lose_old=True)
            heard.clear()

            def nudged() -> bool:
                bus.send_nudges({42: 8})
                return [42] in heard

            await wait_until(nudged)
            await bus.close()

    run_scenario(scenario())


def test_nudges_of_one_tournament_never_hide_another(store: Store, database_url: str) -> None:
    """Every followed channel is looked at once a second, whatever is nudged."""
    busy, quiet = (build.a_tournament(store).tournament_id for _ in range(2))
    other = Store(database_url)

    async def scenario() -> None:
        async with (
            running_program(store) as program,
            program.follower(busy) as first,
            program.follower(quiet) as second,
        ):
            await next_message(first)
            await next_message(second)
            # Another node writes, and its nudge is lost; all others are about the busy tournament.
            await asyncio.to_thread(announce, other, quiet)
            is_over = asyncio.Event()

            async def nudge() -> None:
                while not is_over.is_set():
                    program.broadcast.relay.nudge([busy])
                    await asyncio.sleep(0.01)

            nudging = asyncio.ensure_future(nudge())
            began = time.monotonic()
            assert (await next_message(second))["seq"] == 1
            assert time.monotonic() - began < 4
            is_over.set()
            await nudging

    run_scenario(scenario())
    other.close()


@pytest.mark.parametrize("address", ["localhost:6379", "http://127.0.0.1", "redis://127.0.0.1:many/0"])
def test_a_redis_address_that_is_none_stops_the_start_with_a_sentence(
    address: str, empty_sqlite: Path, tmp_path: Path
) -> None:
    database = tmp_path / "club.db"
    database.write_bytes(empty_sqlite.read_bytes())
    environment = {
        **os.environ,
        "SILVERBALL_DATABASE_URL": f"sqlite:///{database}",
        "SILVERBALL_REDIS_URL": address,
    }
    command = [sys.executable, "-m", "silverball.cli.main", "serve", "--port", "0"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, "Traceback" in done.stderr) == (1, False), done.stderr
    assert "SILVERBALL_REDIS_URL cannot be used" in done.stderr
