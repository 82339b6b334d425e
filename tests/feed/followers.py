"""Clients that follow a tournament over WebSockets, resume after each cut, and miss nothing."""

import asyncio
import json
import time
import urllib.request
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake

from patience import PATIENCE_SECONDS
from silverball.store.database.engine import Store
from silverball.store.tournament import announcements

PATH = "/app/silverball?protocol=7&client=js&version=8.5.0&flash=false"
ACKED = "pusher_internal:subscription_succeeded"
LOST = (OSError, ConnectionClosed, InvalidHandshake, TimeoutError, EOFError)


class Reachable(Protocol):
    """A server, or several behind one port."""

    @property
    def port(self) -> int: ...


@dataclass
class Follower:
    """A client that resumes, and the numbers it has seen in the order of their arrival."""

    servers: Sequence[Reachable]
    tournament_id: int
    which: int
    epoch: str
    seen: list[int] = field(default_factory=list)
    connections: int = 0
    # Why each connection ended before it was wanted.
    ends: list[str] = field(default_factory=list)

    @property
    def port(self) -> int:
        return self.servers[self.which % len(self.servers)].port

    async def follow(self, until: asyncio.Event) -> None:
        """Follow, and reconnect whenever the connection is lost."""
        while not until.is_set():
            try:
                await self._follow_once(until)
            except LOST as error:
                self.ends.append(f"{type(error).__name__}: {error}")
            await asyncio.sleep(0.02)

    async def _follow_once(self, until: asyncio.Event) -> None:
        url = f"ws://127.0.0.1:{self.port}{PATH}"
        async with connect(
            url,
            ping_interval=None,
            proxy=None,
            compression=None,
            open_timeout=PATIENCE_SECONDS,
            close_timeout=1,
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
            with urllib.request.urlopen(
                f"{url}&epoch={self.epoch}&limit=100", timeout=PATIENCE_SECONDS
            ) as answer:
                page = json.load(answer)
            for event in page["data"]:
                self._note_seq(event["seq"])
            is_complete = page["complete"]

    def _note_seq(self, seq: int) -> None:
        # A known event may come once more; a skipped number would be a gap.
        if seq == (self.seen[-1] if self.seen else 0) + 1:
            self.seen.append(seq)
        else:
            assert 0 < seq <= len(self.seen), f"{seq} after {self.seen[-3:]}"


class Writer:
    """Sends writes one after the other, retrying each with its key until it is acknowledged."""

    def __init__(
        self, servers: Sequence[Reachable], tournament_id: int, text: str, name: str = "write"
    ) -> None:
        self._servers = servers
        self._path = f"/api/tournaments/{tournament_id}"
        self._headers = {"Authorization": f"Bearer {text}", "Content-Type": "application/json"}
        self._name = name
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
            data=json.dumps({"name": f"{self._name} {n}"}).encode(),
            headers={**self._headers, "Idempotency-Key": f"{self._name}-{n}"},
            method="PATCH",
        )
        try:
            with urllib.request.urlopen(request, timeout=10) as answer:
                return bool(answer.status == 200)
        except OSError:
            return False


async def wait_for_all(followers: Sequence[Follower], newest: int) -> None:
    """Wait until each has seen the newest event."""
    async with asyncio.timeout(PATIENCE_SECONDS):
        while any(not follower.seen or follower.seen[-1] < newest for follower in followers):
            await asyncio.sleep(0.05)


def newest_seq(store: Store, tournament_id: int) -> int:
    """The number of the newest event."""
    return channel_head(store, tournament_id).seq


def channel_head(store: Store, tournament_id: int) -> announcements.ChannelHead:
    """Where the events of a tournament are, and their epoch as clients see it."""
    with store.read() as db:
        return announcements.public_heads_by_id(db, [tournament_id])[tournament_id]
