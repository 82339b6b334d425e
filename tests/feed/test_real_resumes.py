"""Real resumes at two real nodes that restart: ascending without gaps, or told that something is missing."""

import asyncio
import contextlib
import json
import logging
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from random import Random
from typing import Any

import pytest
import uvloop
from sqlalchemy import text
from websockets.asyncio.client import ClientConnection, connect

import build
from feed.followers import ACKED, LOST, PATH, Writer
from feed.running_program import admin_token, announce
from servers import Servers
from silverball.store.database.engine import Store
from silverball.store.tournament import announcements

CLIENTS = 10
RESTART_EVERY = 50
SECONDS_MAX = 60
END_LISTENERS = text(
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
    " WHERE datname = current_database() AND query LIKE 'LISTEN%' OR query = 'SELECT 1'"
)


@dataclass
class Resumer:
    """A client that comes and goes, and checks every number."""

    nodes: list[Servers]
    tournament_id: int
    epoch: str
    dice: Random
    seq: int = 0
    recovered: int = 0
    missed: int = 0
    wrong: list[str] = field(default_factory=list)

    async def resume(self, seconds: float, until_seq: int | None = None) -> None:
        """Resume at one of the nodes, and follow for this time or up to a number."""
        url = f"ws://127.0.0.1:{self.dice.choice(self.nodes).port}{PATH}"
        options: dict[str, Any] = {"ping_interval": None, "proxy": None, "compression": None}
        async with connect(url, max_queue=None, open_timeout=5, close_timeout=1, **options) as client:
            await client.recv()
            position = {"epoch": self.epoch, "seq": self.seq}
            data = {"channel": f"tournaments.{self.tournament_id}", "auth": "", "resume": position}
            await client.send(json.dumps({"event": "pusher:subscribe", "data": data}))
            await self._confirm(client)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    while until_seq is None or self.seq < until_seq:
                        self._check(json.loads(await client.recv()))
            if self.dice.random() < 0.5:
                # As a phone does it that loses its network.
                client.transport.abort()

    async def _confirm(self, client: ClientConnection) -> None:
        before = self.recovered + self.missed
        async with asyncio.timeout(SECONDS_MAX):
            while self.recovered + self.missed == before:
                self._check(json.loads(await client.recv()))

    def _check(self, message: Any) -> None:
        if message["event"] == ACKED:
            position = json.loads(message["data"])
            self.recovered += position["recovered"]
            self.missed += not position["recovered"]
            if not position["recovered"]:
                self.epoch, self.seq = position["epoch"], position["seq"]
        elif "seq" in message:
            if (message["epoch"], message["seq"]) != (self.epoch, self.seq + 1):
                self.wrong.append(f"{message['epoch']}:{message['seq']} after {self.epoch}:{self.seq}")
            self.epoch, self.seq = message["epoch"], message["seq"]


@dataclass
class Circus:
    """Two nodes under a writer, a fault now and then, and clients that resume."""

    store: Store
    nodes: list[Servers]
    resumers: list[Resumer]
    writer: Writer
    dice: Random
    # Breaks the way in which the nodes nudge each other, and mends it.
    break_bus: Any
    resumes: int
    done: int = 0
    restarts: int = 0

    async def run(self) -> None:
        until = threading.Event()
        # Two threads: requests to the nodes, which nudge each other, and a node that never nudges.
        writing = [threading.Thread(target=work, args=(until,)) for work in (self._write, self._announce)]
        for thread in writing:
            thread.start()
        try:
            await asyncio.gather(self._break(), *(self._come_and_go(each) for each in self.resumers))
        finally:
            until.set()
            for thread in writing:
                await asyncio.to_thread(thread.join)
        head = self.head()
        for resumer in self.resumers:
            await resumer.resume(SECONDS_MAX, until_seq=head)

    def _write(self, until: threading.Event) -> None:
        number = 0
        while not until.wait(0.005):
            self.writer.run_one(number)
            number += 1

    def _announce(self, until: threading.Event) -> None:
        while not until.wait(0.01):
            announce(self.store, self.resumers[0].tournament_id, self.dice.randrange(1, 4))

    def head(self) -> int:
        with self.store.read() as db:
            head = announcements.channel_head(db, self.resumers[0].tournament_id)
        assert head is not None
        return head.seq

    async def _come_and_go(self, resumer: Resumer) -> None:
        while self.done < self.resumes:
            counted = resumer.recovered + resumer.missed
            with contextlib.suppress(*LOST):
                await resumer.resume(self.dice.uniform(0, 0.2))
            # One that a restart interrupted before its answer is no resume.
            self.done += resumer.recovered + resumer.missed > counted
            await asyncio.sleep(0.01)

    async def _break(self) -> None:
        for number in range(1, self.resumes // RESTART_EVERY):
            while self.done < number * RESTART_EVERY:
                await asyncio.sleep(0.01)
            node = self.dice.choice(self.nodes)
            node.kill() if self.dice.random() < 0.5 else node.stop()
            await asyncio.to_thread(node.start)
            await asyncio.to_thread(self.break_bus)
            self.restarts += 1


@pytest.fixture
def shared(postgresql: Any) -> Iterator[Store]:
    url = postgresql.new_database()
    store = Store(url)
    yield store
    store.close()
    postgresql.drop(url)


@pytest.mark.parametrize("resumes", [100, pytest.param(1_000, marks=pytest.mark.soak)])
@pytest.mark.parametrize("bus", ["redis", "notify"])
def test_every_resume_is_whole_or_told_that_it_is_not(
    bus: str, resumes: int, shared: Store, request: pytest.FixtureRequest
) -> None:
    settings: dict[str, str] = {}
    dice = Random(resumes)

    def end_listeners() -> None:
        with shared.write(quiet=True) as transaction:
            transaction.connection.execute(END_LISTENERS)

    break_bus: Any = end_listeners
    if bus == "redis":
        redis = request.getfixturevalue("redis")
        settings["SILVERBALL_REDIS_URL"] = f"redis://127.0.0.1:{redis.port}/0"

        def restart_redis() -> None:
            redis.kill()
            redis.start()

        break_bus = restart_redis
    tournament_id = build.a_tournament(shared, players=2, arenas=0).tournament_id
    nodes = [
        Servers.without_limits(shared.url.render_as_string(hide_password=False), **settings) for _ in range(2)
    ]
    for node in nodes:
        node.start()
    epoch = build.public_epoch(shared)
    resumers = [Resumer(nodes, tournament_id, epoch, Random(number)) for number in range(CLIENTS)]
    writer = Writer(nodes, tournament_id, admin_token(shared))
    circus = Circus(shared, nodes, resumers, writer, dice, break_bus, resumes)
    try:
        uvloop.run(circus.run())
    finally:
        for node in nodes:
            node.close()
    assert [each.wrong for each in resumers if each.wrong] == []
    assert circus.done >= resumes
    assert circus.restarts > 0
    # Most find all that they missed: the numbers are not simply begun anew.
    recovered, missed = (sum(getattr(each, name) for each in resumers) for name in ("recovered", "missed"))
    logging.getLogger("silverball.tests").info(
        "%s: %s recovered, %s told, %s restarts, %s events",
        bus,
        recovered,
        missed,
        circus.restarts,
        circus.head(),
    )
    assert recovered > missed
