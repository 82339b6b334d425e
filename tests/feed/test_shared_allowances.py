"""Nodes with one Redis share each caller's allowance, and each gives its own when Redis is lost."""

import asyncio
import http.client
import time
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, asynccontextmanager, closing, contextmanager

import build
from feed.feed_server import run_scenario
from feed.redis_server import RedisServer
from feed.running_program import wait_until
from servers import Servers
from silverball.kit.edge.allowance_leases import HEARTBEAT_SECONDS, RECONNECT_SECONDS, AllowanceLeases
from silverball.kit.edge.leased_rate_limit import LeasedRateLimiter
from silverball.store.engine import Store

LIMIT = 60


def _url(redis: RedisServer) -> str:
    return f"redis://127.0.0.1:{redis.port}/0"


@asynccontextmanager
async def _office(redis: RedisServer, nodes: int = 1) -> AsyncIterator[AllowanceLeases]:
    leases = AllowanceLeases(_url(redis), "mine")
    leases.start()
    try:
        await wait_until(lambda: leases.is_reachable and leases.nodes >= nodes)
        yield leases
    finally:
        await leases.close()


@contextmanager
def _nodes(database_url: str, redis: RedisServer, number: int) -> Iterator[list[int]]:
    """The ports of so many servers, once each knows how many they are."""
    settings = {"REDIS_URL": _url(redis), "RATE_LIMIT_PER_MINUTE": str(LIMIT), "PUBLIC_READ": "true"}
    with ExitStack() as stack:
        nodes = []
        for _ in range(number):
            node = Servers(database_url, **{f"SILVERBALL_{name}": value for name, value in settings.items()})
            stack.callback(node.close)
            node.start()
            nodes.append(node)
        time.sleep(HEARTBEAT_SECONDS + 0.5)
        yield [node.port for node in nodes]


def _statuses(port: int, tournament_id: int, requests: int) -> list[int]:
    """The statuses of requests without a token, one after the other over one connection."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    statuses = []
    with closing(connection):
        for _ in range(requests):
            connection.request("GET", f"/api/tournaments/{tournament_id}")
            answer = connection.getresponse()
            answer.read()
            statuses.append(answer.status)
    return statuses


def test_a_caller_on_one_connection_gets_all_of_the_allowance_and_no_more(
    store: Store, database_url: str, redis: RedisServer
) -> None:
    tournament_id = build.a_tournament(store).tournament_id
    with _nodes(database_url, redis, 2) as ports:
        assert _statuses(ports[0], tournament_id, LIMIT + 20) == [200] * LIMIT + [429] * 20
        assert _statuses(ports[1], tournament_id, 20).count(200) <= LIMIT // 8


def test_all_nodes_together_give_a_quarter_more_at_most(
    store: Store, database_url: str, redis: RedisServer
) -> None:
    tournament_id = build.a_tournament(store).tournament_id
    with _nodes(database_url, redis, 3) as ports, ThreadPoolExecutor(6) as clients:
        listed = clients.map(lambda port: _statuses(port, tournament_id, LIMIT), ports * 2)
        given = sum(statuses.count(200) for statuses in listed)
    assert LIMIT * 3 // 4 <= given <= LIMIT * 5 // 4


def test_without_redis_each_node_gives_its_own(redis: RedisServer) -> None:
    async def scenario() -> None:
        async with _office(redis) as office:
            limiter = office.limiter("requests", LIMIT)
            assert isinstance(limiter, LeasedRateLimiter)
            assert limiter.take("ada", 0.0) == LIMIT - 1
            await asyncio.to_thread(redis.kill)
            await wait_until(lambda: not office.is_reachable)
            given = [limiter.take("ada", 1.0) >= 0 for _ in range(LIMIT * 2)].count(True)
            assert given >= LIMIT - 1
            assert [limiter.take("bo", 1.0) for _ in range(LIMIT + 1)] == [*range(LIMIT - 1, -1, -1), -1]
            await asyncio.to_thread(redis.start)
            await wait_until(lambda: office.is_reachable)

    run_scenario(scenario())


def test_a_window_ends_for_all_nodes_at_the_same_time(redis: RedisServer) -> None:
    async def scenario() -> None:
        async with _office(redis) as office, _office(redis, nodes=2) as other:
            first, second = office.limiter("requests", 8), other.limiter("requests", 8)
            first.take("ada", 0.0)
            await asyncio.sleep(RECONNECT_SECONDS)
            second.take("ada", 40.0)
            await asyncio.sleep(0.2)
            assert 55 < second.seconds_to_wait("ada", 40.0) <= 60
            assert second.remaining("ada", 40.0) < 8
            assert second.remaining("ada", 101.0) == 8

    run_scenario(scenario())


def test_a_limit_of_zero_is_no_limit_and_needs_no_redis() -> None:
    limiter = AllowanceLeases("redis://127.0.0.1:1/0", "mine").limiter("requests", 0)
    assert not isinstance(limiter, LeasedRateLimiter)
