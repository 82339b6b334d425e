"""Killed servers and a lost Redis: clients that resume miss no event."""

import asyncio
import contextlib
import json
import threading
import time
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass, field
from random import Random
from typing import Any

import pytest
import uvloop
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake

import build
from feed.redis_server import RedisServer
from feed.running_program import admin_token
from servers import Servers
from silverball.store import announcements
from silverball.store.engine import Store

WRITES = 1_000
CLIENTS = 50
KILLS = 6
PATH = "/app/silverball?protocol=7&client=js&version=8.5.0&flash=false"
ACKED = "pusher_internal:subscription_succeeded"
LOST = (OSError, ConnectionClosed, InvalidHandshake, TimeoutError, EOFError)


@dataclass
class Follower:
    """A client that resumes, and the numbers it has seen in the order of their arrival."""

    servers: list[Servers]
    tournament_id: int
    which: int
    epoch: str = "k3f9"
    seen: list[int] = field(default_factory=list)
    connections: int = 0

    @property
    def port(self) -> int:
        return self.servers[self.which % len(self.servers)].port

    async def follow(self, until: asyncio.Event) -> None:
        """Follow, and reconnect whenever the connection is lost."""
        while not until.is_set():
            with contextlib.suppress(*LOST):
                await self._follow_once(until)
            await asyncio.sleep(0.02)

    async def _follow_once(self, until: asyncio.Event) -> None:
        url = f"ws://127.0.0.1:{self.port}{PATH}"
        async with connect(
            url, ping_interval=None, proxy=None, compression=None, open_timeout=5, close_timeout=1
        ) as client:
            self.connections += 1
            await client.recv()
            await self._resume(client)
            while not until.is_set():
                try:
                    async with asyncio.timeout(0.2):
                        message = json.loads(await client.recv())
                except TimeoutError:
                    continue
                if message["event"] == ACKED:
                    await self._confirm(client, json.loads(message["data"]))
                elif "seq" in message:
                    self._note_seq(message["seq"])

    async def _resume(self, client: Any) -> None:
        resume = {"epoch": self.epoch, "seq": self.seen[-1] if self.seen else 0}
        data = {"channel": f"tournaments.{self.tournament_id}", "auth": "", "resume": resume}
        await client.send(json.dumps({"event": "pusher:subscribe", "data": data}))

    async def _confirm(self, client: Any, message: Any) -> None:
        if not message["recovered"]:
            await asyncio.to_thread(self._read_page)
            await self._resume(client)

    def _read_page(self) -> None:
        """Read pages until nothing follows, as more was missed than one resume sends."""
        is_complete = False
        while not is_complete:
            after = self.seen[-1] if self.seen else 0
            url = f"http://127.0.0.1:{self.port}/api/tournaments/{self.tournament_id}/events?after={after}"
            with urllib.request.urlopen(f"{url}&epoch={self.epoch}&limit=100", timeout=5) as answer:
                page = json.load(answer)
            for event in page["data"]:
                self._note_seq(event["seq"])
            is_complete = page["complete"]

    def _note_seq(self, seq: int) -> None:
        # A known event may come once more; a skipped number would be a gap.
        if seq == (self.seen[-1] if self.seen else 0) + 1:
            self.seen.append(seq)
        else:
            assert seq in self.seen, f"{seq} after {self.seen[-3:]}"


class Writer:
    """Sends writes one after the other, retrying each with its key until it is acknowledged."""

    def __init__(self, servers: list[Servers], tournament_id: int, text: str) -> None:
        self._servers = servers
        self._path = f"/api/tournaments/{tournament_id}"
        self._headers = {"Authorization": f"Bearer {text}", "Content-Type": "application/json"}
        self.done = 0

    def run(self, count: int) -> None:
        for n in range(count):
            self.run_one(n)

    def run_one(self, n: int) -> None:
        while not self._try_write(n):
            time.sleep(0.02)
        self.done += 1

    def _try_write(self, n: int) -> bool:
        port = self._servers[n % len(self._servers)].port
        request = urllib.request.Request(
            f"http://127.0.0.1:{port}{self._path}",
            data=json.dumps({"name": f"Name {n}"}).encode(),
            headers={**self._headers, "Idempotency-Key": f"write-{n}"},
            method="PATCH",
        )
        try:
            with urllib.request.urlopen(request, timeout=10) as answer:
                return bool(answer.status == 200)
        except OSError:
            return False


async def _wait_for_all(followers: list[Follower], newest: int) -> None:
    async with asyncio.timeout(60):
        while any(not follower.seen or follower.seen[-1] < newest for follower in followers):
            await asyncio.sleep(0.05)


def _newest_seq(store: Store, tournament_id: int) -> int:
    with store.read() as db:
        head = announcements.channel_head(db, tournament_id)
    assert head is not None
    return head.seq


def test_fifty_followers_of_a_server_that_is_killed_miss_nothing(store: Store, database_url: str) -> None:
    tournament_id = build.a_tournament(store, players=2, arenas=0).tournament_id
    servers = Servers(database_url)
    servers.start()
    writer = Writer([servers], tournament_id, admin_token(store))
    followers = [Follower([servers], tournament_id, n) for n in range(CLIENTS)]

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
        await _wait_for_all(followers, _newest_seq(store, tournament_id))
        until.set()
        await asyncio.gather(*tasks)

    try:
        uvloop.run(scenario())
    finally:
        servers.close()
    assert _newest_seq(store, tournament_id) == WRITES
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
    nodes = [Servers(shared, SILVERBALL_REDIS_URL=f"redis://127.0.0.1:{redis.port}/0") for _ in range(2)]
    for node in nodes:
        node.start()
    writer = Writer(nodes, tournament_id, admin_token(store))
    followers = [Follower(nodes, tournament_id, n) for n in range(20)]

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
        await _wait_for_all(followers, 600)
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
    nodes = [Servers(shared, **settings) for _ in range(2)]
    for node in nodes:
        node.start()
    # Written at the first node, followed at the second.
    writer, follower = (
        Writer(nodes[:1], tournament_id, admin_token(store)),
        Follower(nodes[1:], tournament_id, 0),
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
            await _wait_for_all([follower], n + 1)
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
