"""Nodes share allowances and caps by Redis or their database; each has its own when that is lost."""

import asyncio
import http.client
import shutil
import time
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, asynccontextmanager, closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

import build
from conftest import PostgreSQL
from feed.feed_server import run_scenario
from feed.redis_server import RedisServer
from feed.running_program import wait_until
from servers import Servers
from silverball.kit.edge.allowance_leases import HEARTBEAT_SECONDS, AllowanceLeases, Ledger
from silverball.kit.edge.database_ledger import DatabaseLedger
from silverball.kit.edge.leased_rate_limit import LeasedRateLimiter
from silverball.kit.edge.redis_ledger import RedisLedger
from silverball.store.engine import Store

LIMIT = 60


@dataclass
class Shared:
    """A database, what its nodes share by, and how to take that away and give it back."""

    store: Store
    database_url: str
    open_ledger: Callable[[], Ledger]
    lose: Callable[[], None]
    give_back: Callable[[], None]
    settings: dict[str, str] = field(default_factory=dict)


@pytest.fixture(params=["sqlite", "postgresql", "redis"])
def shared(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Shared]:
    if request.param == "postgresql":
        cluster: PostgreSQL = request.getfixturevalue("postgresql")
        url = cluster.new_database()
    else:
        shutil.copy(request.getfixturevalue("empty_sqlite"), tmp_path / "silverball.db")
        url = f"sqlite:///{tmp_path / 'silverball.db'}"
    store = Store(url, tmp_path / "silverball.db.secret")
    store.key_file.may_make = True
    if request.param == "redis":
        redis: RedisServer = request.getfixturevalue("redis")
        address = f"redis://127.0.0.1:{redis.port}/0"
        settings = {"SILVERBALL_REDIS_URL": address}
        yield Shared(store, url, lambda: RedisLedger(address, "mine"), redis.kill, redis.start, settings)
    else:
        stores: list[Store] = []

        def open_ledger() -> Ledger:
            stores.append(Store(url))
            return DatabaseLedger(stores[-1].counts)

        def rename(old: str, new: str) -> None:
            with store.counts.transaction() as db:
                db.exec_driver_sql(f"ALTER TABLE {old} RENAME TO {new}")

        yield Shared(
            store,
            url,
            open_ledger,
            lambda: rename("node_connection", "elsewhere"),
            lambda: rename("elsewhere", "node_connection"),
        )
        for opened in stores:
            opened.close()
    store.close()


@asynccontextmanager
async def _offices(shared: Shared, number: int) -> AsyncIterator[list[AllowanceLeases]]:
    """The shared allowances of so many nodes, once each knows of all."""
    offices = [AllowanceLeases(shared.open_ledger()) for _ in range(number)]
    try:
        for office in offices:
            office.start()
        await wait_until(lambda: all(office.is_reachable and office.nodes == number for office in offices))
        yield offices
    finally:
        for office in offices:
            await office.close()


@asynccontextmanager
async def _joining(shared: Shared) -> AsyncIterator[AllowanceLeases]:
    """One more node."""
    office = AllowanceLeases(shared.open_ledger())
    office.start()
    try:
        yield office
    finally:
        await office.close()


@contextmanager
def _nodes(shared: Shared, number: int) -> Iterator[list[int]]:
    """The ports of so many servers, once each knows how many they are."""
    settings = {"SILVERBALL_RATE_LIMIT_PER_MINUTE": str(LIMIT), "SILVERBALL_PUBLIC_READ": "true"}
    with ExitStack() as stack:
        nodes = []
        for _ in range(number):
            node = Servers(shared.database_url, **settings, **shared.settings)
            stack.callback(node.close)
            node.start()
            nodes.append(node)
        time.sleep(HEARTBEAT_SECONDS + 0.5)
        yield [node.port for node in nodes]


def _statuses(port: int, tournament_id: int, address: str, requests: int) -> list[int]:
    """The statuses of requests of one address without a token, one after the other over one connection."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    statuses = []
    with closing(connection):
        for _ in range(requests):
            # This machine counts as a proxy, so it may name the client.
            connection.request(
                "GET", f"/api/tournaments/{tournament_id}", headers={"X-Forwarded-For": address}
            )
            answer = connection.getresponse()
            answer.read()
            statuses.append(answer.status)
            # Nobody who has sixty a minute needs more than a hundred a second.
            time.sleep(0.01)
    return statuses


def test_a_caller_gets_all_of_the_allowance_on_one_connection_and_a_quarter_more_on_many(
    shared: Shared,
) -> None:
    tournament_id = build.a_tournament(shared.store).tournament_id
    with _nodes(shared, 2) as ports, ThreadPoolExecutor(4) as clients:
        ada, bo = "192.0.2.1", "192.0.2.2"
        assert _statuses(ports[0], tournament_id, ada, LIMIT + 20) == [200] * LIMIT + [429] * 20
        assert _statuses(ports[1], tournament_id, ada, 20).count(200) <= LIMIT // 8
        listed = clients.map(lambda port: _statuses(port, tournament_id, bo, LIMIT), ports * 2)
        given = sum(statuses.count(200) for statuses in listed)
    assert LIMIT * 3 // 4 <= given <= LIMIT * 5 // 4


def test_when_nobody_can_be_asked_each_node_gives_its_own(shared: Shared) -> None:
    async def scenario() -> None:
        async with _offices(shared, 2) as (office, _):
            limiter = office.limiter("requests", LIMIT)
            assert isinstance(limiter, LeasedRateLimiter)
            assert limiter.take("ada", 0.0) == LIMIT - 1
            await asyncio.to_thread(shared.lose)
            await wait_until(lambda: not office.is_reachable)
            given = [limiter.take("ada", 1.0) >= 0 for _ in range(LIMIT * 2)].count(True)
            assert given >= LIMIT - 1
            assert [limiter.take("bo", 1.0) for _ in range(LIMIT + 1)] == [*range(LIMIT - 1, -1, -1), -1]
            await asyncio.to_thread(shared.give_back)
            await wait_until(lambda: office.is_reachable)

    run_scenario(scenario())


def test_a_window_ends_for_all_nodes_at_the_same_time(shared: Shared) -> None:
    async def scenario() -> None:
        async with _offices(shared, 2) as (office, other):
            first, second = office.limiter("requests", 8), other.limiter("requests", 8)
            first.take("ada", 0.0)
            await asyncio.sleep(1.0)
            second.take("ada", 40.0)
            await asyncio.sleep(0.3)
            assert 55 < second.seconds_to_wait("ada", 40.0) <= 60
            assert second.remaining("ada", 40.0) < 8
            assert second.remaining("ada", 101.0) == 8

    run_scenario(scenario())


def test_what_a_node_gave_while_it_was_alone_counts_when_another_comes(shared: Shared) -> None:
    async def scenario() -> None:
        async with _offices(shared, 1) as (office,):
            now = time.monotonic()
            alone = office.limiter("requests", LIMIT)
            assert [alone.take("ada", now) for _ in range(LIMIT)][-1] == 0
            async with _joining(shared) as other:
                await wait_until(lambda: office.nodes == other.nodes == 2)
                second = other.limiter("requests", LIMIT)
                await asyncio.sleep(0.5)
                given = 0
                for _ in range(LIMIT):
                    given += second.take("ada", now) >= 0
                    await asyncio.sleep(0.002)
                assert given <= LIMIT // 4

    run_scenario(scenario())


def test_a_node_knows_how_many_connections_an_address_has_at_the_others(shared: Shared) -> None:
    async def scenario() -> None:
        async with _offices(shared, 3) as (first, second, third):
            venue = {"192.0.2.1": 500, "198.51.100.1": 3}
            first.share_connections("connections", venue, 1_000)
            second.share_connections("connections", {"192.0.2.1": 499}, 1_000)
            second.share_connections("sockets", {"192.0.2.1": 7}, 10)
            elsewhere = third.share_connections("connections", {}, 1_000)
            sockets = third.share_connections("sockets", {}, 10)
            await wait_until(lambda: elsewhere("192.0.2.1") == 999 and sockets("192.0.2.1") == 7)
            assert elsewhere("198.51.100.1") == 0
            venue.clear()
            await wait_until(lambda: elsewhere("192.0.2.1") == 499)

    run_scenario(scenario())


def test_a_limit_of_zero_is_no_limit_and_needs_nobody() -> None:
    limiter = AllowanceLeases(RedisLedger("redis://127.0.0.1:1/0", "mine")).limiter("requests", 0)
    assert not isinstance(limiter, LeasedRateLimiter)
