"""T3: two nodes whose Redis is killed, cut off, silent or slow. Nothing is lost, refused or out of order."""

import asyncio
import time
from collections import Counter
from collections.abc import Iterator
from random import Random

import pytest
import uvloop

from conftest import PostgreSQL
from feed.followers import Follower, channel_head, newest_seq, wait_for_all
from feed.redis_server import RedisServer
from selection import IS_SOAK, LARGE_IN_SOAK, repetitions
from servers import Servers
from silverball.store.database.engine import Store
from tcp_proxy import TcpProxy
from trials.ledger import Clients, Ledger, Work, compare

pytestmark = LARGE_IN_SOAK

FAULTS = repetitions(5, in_soak=100)
FOLLOWERS = repetitions(20, in_soak=300)
LATENCY_SECONDS = 0.5
# Of the tournament that most writes go to: all followers live in the process of this test, and for more
# than it can read the server rightly hangs up. The others follow the other tournament.
BUSY_FOLLOWERS = 20
# One silence of a soak is as long as a switch that hangs.
LONG_SILENCE_SECONDS = 30.0 if IS_SOAK else 2.0


class Site:
    """Two nodes on one PostgreSQL, and a Redis behind a proxy."""

    def __init__(self, url: str, redis: RedisServer, proxy: TcpProxy) -> None:
        self.redis, self.proxy = redis, proxy
        self.store = Store(url)
        self.work, self.ledger = Work(self.store), Ledger()
        settings = {
            "SILVERBALL_REDIS_URL": f"redis://127.0.0.1:{proxy.port}/0",
            "SILVERBALL_PUBLIC_READ": "true",
        }
        self.nodes = [Servers.without_limits(url, **settings) for _ in range(2)]
        for node in self.nodes:
            node.start()

    def break_redis(self, kind: str, seconds: float) -> None:
        """Let Redis fail in this way, and come back after these seconds."""
        if kind == "killed":
            self.redis.kill()
            time.sleep(seconds)
            self.redis.start()
        elif kind == "cut":
            self.proxy.stop()
            time.sleep(seconds)
            self.proxy.start()
        elif kind == "silent":
            self.proxy.blackhole()
            time.sleep(seconds)
            self.proxy.forward(lose_old=True)
        else:
            self.proxy.delay(LATENCY_SECONDS)
            time.sleep(seconds)
            self.proxy.delay(0.0)

    def close(self) -> None:
        for node in self.nodes:
            node.close()
        self.store.close()


@pytest.fixture
def site(postgresql: PostgreSQL, redis: RedisServer) -> Iterator[Site]:
    url = postgresql.new_database()
    with TcpProxy(("127.0.0.1", redis.port)) as proxy:
        opened = Site(url, redis, proxy)
        yield opened
        opened.close()
    postgresql.drop(url)


def a_follower(site: Site, tournament_id: int, number: int) -> Follower:
    head = channel_head(site.store, tournament_id)
    return Follower(site.nodes, tournament_id, number, head.epoch, list(range(1, head.seq + 1)))


def test_whatever_redis_does_every_follower_hears_everything_in_order(site: Site) -> None:
    busy_id, other_id = site.work.tournament_ids
    followers = [
        a_follower(site, busy_id if number < BUSY_FOLLOWERS else other_id, number)
        for number in range(FOLLOWERS)
    ]
    recoveries: list[float] = []
    dice = Random(3)
    kinds = ["killed", "cut", "silent", "slow"]

    def break_and_write() -> None:
        clients = Clients(site.work, site.ledger, lambda n: site.nodes[n % 2].port, pause_seconds=0.02)
        with clients:
            site.ledger.await_count(8)
            for number in range(FAULTS):
                is_long = number == FAULTS - 1
                kind = "silent" if is_long else kinds[number % len(kinds)]
                began = time.monotonic()
                site.break_redis(kind, LONG_SILENCE_SECONDS if is_long else dice.uniform(0.3, 1.5))
                seconds = site.ledger.recovery_after(began)
                recoveries.append(site.ledger.await_recovery(began) if seconds is None else seconds)
        clients.resend(site.nodes[0].port)

    async def scenario() -> None:
        until = asyncio.Event()
        following = [asyncio.ensure_future(follower.follow(until)) for follower in followers]
        await asyncio.to_thread(break_and_write)
        for tournament_id in (busy_id, other_id):
            own = [follower for follower in followers if follower.tournament_id == tournament_id]
            await wait_for_all(own, newest_seq(site.store, tournament_id))
        until.set()
        await asyncio.gather(*following)

    uvloop.run(scenario())
    assert site.ledger.unknown == []
    figures = compare("T3 Redis faults", "postgresql", FAULTS, site.work, site.ledger, site.store)
    newest = {each: newest_seq(site.store, each) for each in (busy_id, other_id)}
    figures.gaps += sum(
        follower.seen != list(range(1, newest[follower.tournament_id] + 1)) for follower in followers
    )
    figures.add_recoveries(recoveries)
    figures.publish()
    figures.assert_nothing_wrong()
    # A follower is never cut off because Redis is.
    ends = Counter(end for follower in followers for end in follower.ends)
    assert {follower.connections for follower in followers} == {1}, ends
