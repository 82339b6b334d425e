"""T11: sockets that read a byte a second, or nothing, or never finish their handshake.

The others hear every event in order meanwhile, and the server keeps no more for the slow ones than the
limits of docs/feed.md say.
"""

import asyncio
import contextlib
import http.client
import json
import socket
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import uvloop

from feed.followers import PATH, Follower, channel_head, newest_seq, wait_for_all
from patience import PATIENCE_SECONDS
from selection import IS_SOAK, LARGE_IN_SOAK, repetitions
from servers import Servers
from silverball.feed.subscribers import LAGGING_BYTES_MAX, LAGGING_SECONDS_MAX
from silverball.store.database.engine import Store
from trials.figures import Figures, kind_of
from trials.ledger import RETRY_SECONDS, Work

pytestmark = LARGE_IN_SOAK

DRIPPING, SILENT, HALF_OPEN = (200, 50, 20) if IS_SOAK else (24, 8, 4)
FOLLOWERS = repetitions(10, in_soak=200)
EVENTS = repetitions(200, in_soak=2_000)
# As much as a description holds, 40 KB: a socket that is not read is full long before the last event.
EVENT_CHARACTERS = 9_990
BIG_CHARACTER = "\N{BILLIARDS}"
RECEIVE_BYTES = 4_096
DRIP_SECONDS = 1.0
GROWTH_MB_MAX = 64
PAGE_BYTES = 4_096
# Good followers are this many events behind at most: all of them live in the process of this test.
BEHIND_MAX = 5


@dataclass
class Latencies:
    """When the change of an event was sent, by its number, and how long followers waited for it."""

    sent_at: dict[int, float] = field(default_factory=dict)
    seconds: list[float] = field(default_factory=list)


@dataclass
class TimedFollower(Follower):
    """A follower that notes how long its events were under way."""

    latencies: Latencies = field(default_factory=Latencies)

    def _note_seq(self, seq: int) -> None:
        super()._note_seq(seq)
        sent_at = self.latencies.sent_at.get(seq)
        if sent_at is not None:
            self.latencies.seconds.append(time.monotonic() - sent_at)


class SlowConsumers:
    """Sockets that follow a tournament and hardly read, or not at all."""

    def __init__(self, port: int, tournament_id: int) -> None:
        self._port, self._tournament_id = port, tournament_id
        self._dripping = [self._follow(resumes=False) for _ in range(DRIPPING)]
        # Those that resume are closed once they lag, the others get the newest state only.
        self.resuming = [self._follow(resumes=True) for _ in range(SILENT // 2)]
        self.plain = [self._follow(resumes=False) for _ in range(SILENT - SILENT // 2)]
        self._half_open = [self._connect(b"GET " + PATH.encode()) for _ in range(HALF_OPEN)]
        self._until = threading.Event()
        self._thread = threading.Thread(target=self._drip)
        self._thread.start()

    def _connect(self, words: bytes) -> socket.socket:
        plug = socket.socket()
        plug.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, RECEIVE_BYTES)
        plug.settimeout(PATIENCE_SECONDS)
        plug.connect(("127.0.0.1", self._port))
        plug.sendall(words)
        return plug

    def _follow(self, *, resumes: bool) -> socket.socket:
        plug = self._connect(
            f"GET {PATH} HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n".encode()
        )
        received = plug.recv(4_096)
        while b"connection_established" not in received:
            received += plug.recv(4_096)
        data: dict[str, Any] = {"channel": f"tournaments.{self._tournament_id}"}
        if resumes:
            data["resume"] = {"epoch": "x", "seq": 0}
        text = json.dumps({"event": "pusher:subscribe", "data": data}, separators=(",", ":")).encode()
        assert len(text) < 126
        # The payload is masked with zeros.
        plug.sendall(bytes([0x81, 0x80 | len(text), *bytes(4)]) + text)
        while b"subscription_succeeded" not in received:
            received += plug.recv(4_096)
        return plug

    def _drip(self) -> None:
        while not self._until.wait(DRIP_SECONDS):
            for plug in self._dripping:
                with contextlib.suppress(OSError):
                    plug.recv(1)

    def close(self) -> None:
        self._until.set()
        self._thread.join()
        for plug in (*self._dripping, *self.resuming, *self.plain, *self._half_open):
            plug.close()


def read_rest(plug: socket.socket, *, until: bytes) -> bytes:
    """Read until these bytes come or the server closes; returns the last that came."""
    # From now on it is as quick as any other.
    plug.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1_000_000)
    last = b""
    with contextlib.suppress(ConnectionResetError):
        while until not in last:
            received = plug.recv(65_536)
            if not received:
                break
            last = (last + received)[-200_000:]
    return last


def resident_mb(process_id: int) -> float:
    """The resident memory of a process."""
    return int(Path(f"/proc/{process_id}/statm").read_text().split()[1]) * PAGE_BYTES / 1_000_000


def _wait_until_heard(followers: Sequence[Follower], seq: int) -> None:
    until = time.monotonic() + PATIENCE_SECONDS
    while any(follower.seen[-1] < seq for follower in followers):
        assert time.monotonic() < until, "good followers hear nothing any more"
        time.sleep(0.002)


class Site:
    """A server or two, and a tournament whose description is changed again and again on the first."""

    def __init__(self, url: str, *, nodes: int = 1) -> None:
        self.store = Store(url)
        self.work = Work(self.store, rounds=1)
        self.tournament_id = self.work.tournament_ids[0]
        settings = {"SILVERBALL_PUBLIC_READ": "true"}
        self.servers = [Servers.without_limits(url, **settings) for _ in range(nodes)]
        for server in self.servers:
            server.start()
        # Which the slow ones follow; with a second node the good ones follow both.
        self.server = self.servers[-1]
        self.statuses: list[int] = []

    def publish(
        self, latencies: Latencies, first_seq: int, count: int, followers: Sequence[Follower] = ()
    ) -> None:
        """Change the description so many times, each of which is one event, no faster than it is heard."""
        headers = {"Authorization": f"Bearer {self.work.token}", "Content-Type": "application/json"}
        port = self.servers[0].port
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE_SECONDS)
        with contextlib.closing(connection):
            for number in range(count):
                body = {"description": f"{number} ".ljust(EVENT_CHARACTERS, BIG_CHARACTER)}
                latencies.sent_at[first_seq + number] = time.monotonic()
                sent = json.dumps(body, ensure_ascii=False).encode()
                headers["Idempotency-Key"] = f"event-{first_seq + number}"
                self.statuses.append(self._send(connection, sent, headers))
                _wait_until_heard(followers, first_seq + number - BEHIND_MAX)

    def _send(self, connection: http.client.HTTPConnection, body: bytes, headers: dict[str, str]) -> int:
        """Send a change, again while the server has no time for it, and return the status of its answer."""
        until = time.monotonic() + PATIENCE_SECONDS
        while True:
            connection.request("PATCH", f"/api/tournaments/{self.tournament_id}", body, headers)
            answer = connection.getresponse()
            answer.read()
            is_busy = answer.status == 503 and answer.headers["Retry-After"] is not None
            if not is_busy or time.monotonic() > until:
                return answer.status
            time.sleep(RETRY_SECONDS)

    def close(self) -> None:
        for server in self.servers:
            server.close()
        self.store.close()


@pytest.fixture(params=["sqlite", "postgresql"])
def site(request: pytest.FixtureRequest, tmp_path: Path, empty_sqlite: Path) -> Iterator[Site]:
    if request.param == "sqlite":
        file = tmp_path / "silverball.db"
        file.write_bytes(empty_sqlite.read_bytes())
        opened = Site(f"sqlite:///{file}")
    else:
        opened = Site(request.getfixturevalue("own_postgresql").new_database(), nodes=2)
    yield opened
    opened.close()


def test_slow_consumers_cost_others_nothing(site: Site) -> None:
    head, latencies = channel_head(site.store, site.tournament_id), Latencies()
    known = list(range(1, head.seq + 1))
    followers = [
        TimedFollower(
            [site.servers[number % len(site.servers)]],
            site.tournament_id,
            number,
            head.epoch,
            list(known),
            latencies=latencies,
        )
        for number in range(FOLLOWERS)
    ]
    # The first events load and grow what stays.
    site.publish(latencies, head.seq + 1, 20)
    before = resident_mb(site.server.process_id)
    slow = SlowConsumers(site.server.port, site.tournament_id)
    connected_at = time.monotonic()
    grown: list[float] = []

    def publish() -> None:
        for part in range(10):
            first_seq = head.seq + 21 + part * EVENTS // 10
            site.publish(latencies, first_seq, EVENTS // 10, followers)
            grown.append(resident_mb(site.server.process_id) - before)

    async def scenario() -> None:
        until = asyncio.Event()
        following = [asyncio.ensure_future(follower.follow(until)) for follower in followers]
        await asyncio.to_thread(publish)
        await wait_for_all(followers, newest_seq(site.store, site.tournament_id))
        until.set()
        await asyncio.gather(*following)

    try:
        uvloop.run(scenario())
        newest = newest_seq(site.store, site.tournament_id)
        assert newest == head.seq + 20 + EVENTS
        # A program that can resume was told to come back, before or while it reads what was under way.
        for plug in slow.resuming:
            assert f'"seq":{newest}'.encode() not in read_rest(plug, until=b'"code":4100')
        for plug in slow.plain:
            last = read_rest(plug, until=f'"seq":{newest}'.encode())
            # Who lags for so long is given up, and its end may wait behind what it does not read.
            is_given_up = time.monotonic() - connected_at > LAGGING_SECONDS_MAX
            assert f'"seq":{newest}'.encode() in last or b"4100" in last or is_given_up
    finally:
        slow.close()
    figures = Figures(
        "T11 slow consumers",
        kind_of(site.store),
        DRIPPING + SILENT + HALF_OPEN,
        acknowledged=len(site.statuses),
        gaps=sum(follower.seen != list(range(1, newest + 1)) for follower in followers),
        server_errors=sum(status != 200 for status in site.statuses),
    )
    figures.add_recoveries(latencies.seconds)
    figures.publish()
    figures.assert_nothing_wrong()
    ends = Counter(end for follower in followers for end in follower.ends)
    assert {follower.connections for follower in followers} == {1}, ends
    assert max(grown) <= GROWTH_MB_MAX + (DRIPPING + SILENT) * LAGGING_BYTES_MAX / 1_000_000, grown
