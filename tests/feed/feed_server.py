"""The real server class on a real port, with announcements in memory and WebSocket clients."""

import asyncio
import contextlib
import json
import socket
from collections.abc import AsyncIterator, Callable, Collection, Coroutine, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from random import Random
from typing import Any

import uvicorn
import uvloop
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosedError

from patience import PATIENCE_SECONDS
from silverball.cli.server import DrainingServer, connection_table
from silverball.feed import feed
from silverball.feed.feed import ConnectionLimits, Feed, HandshakeRules
from silverball.feed.hub import Hub
from silverball.feed.protocol import MESSAGE_BYTES_MAX
from silverball.feed.socket import protocol_class
from silverball.feed.stored_events import EventsUnavailable
from silverball.kit.edge.bounded_http import connection_class
from silverball.kit.values import replace
from silverball.settings import Settings
from silverball.store.tournament.announcements import Announcement, ChannelHead

RULES = HandshakeRules(feed.parse_apps("silverball=plain,silverball-laravel=laravel,old=disabled"))
NOON = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)


class ManualClock:
    """A clock that only moves when a test sets it."""

    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now


class MemoryEvents:
    """The announcements of some tournaments, in memory."""

    def __init__(self, *tournament_ids: int) -> None:
        self.heads = {tournament_id: ChannelHead("k3f9", 0, 0) for tournament_id in tournament_ids}
        self.rows: dict[int, list[Announcement]] = {tournament_id: [] for tournament_id in tournament_ids}
        self.hub: Hub | None = None
        self.lookups: list[tuple[str, int]] = []
        self.is_broken = False
        # Set to make every lookup wait.
        self.gate: asyncio.Event | None = None
        self.watched: list[int] = []

    def append(
        self, tournament_id: int, name: str = "GameCreatedOrUpdated", data: str = "{}"
    ) -> Announcement:
        """Add an event that the relay has not seen yet."""
        head = self.heads[tournament_id] = replace(
            self.heads[tournament_id], seq=self.heads[tournament_id].seq + 1
        )
        event = Announcement(tournament_id, head.epoch, head.seq, name, data, datetime.now(UTC))
        self.rows[tournament_id].append(event)
        return event

    def publish(
        self, tournament_id: int, name: str = "GameCreatedOrUpdated", data: str = "{}"
    ) -> Announcement:
        """Add an event and publish what was not published yet, as the relay does."""
        event = self.append(tournament_id, name, data)
        assert self.hub is not None
        position = self.hub.position(tournament_id)
        for row in self.rows[tournament_id][position[1] if position else 0 :]:
            self.hub.publish(row)
        return event

    async def head(self, tournament_id: int) -> ChannelHead | None:
        await self._record_lookup("head", tournament_id)
        return self.heads.get(tournament_id)

    async def events_page(
        self, tournament_id: int, after: int, limit: int, /
    ) -> tuple[ChannelHead | None, Sequence[Announcement]]:
        await self._record_lookup("since", tournament_id)
        head = self.heads.get(tournament_id)
        if head is None:
            return None, []
        first = max(after, head.low)
        return head, [event for event in self.rows[tournament_id] if event.seq > first][:limit]

    def on_behind(self, tournament_ids: Collection[int]) -> None:
        self.watched += tournament_ids

    async def _record_lookup(self, kind: str, tournament_id: int) -> None:
        self.lookups.append((kind, tournament_id))
        if self.gate is not None:
            await self.gate.wait()
        if self.is_broken:
            raise EventsUnavailable


@dataclass
class FeedServer:
    """A running server."""

    port: int
    feed: Feed
    events: MemoryEvents
    clock: ManualClock | None
    uvicorn_server: DrainingServer
    path: str = "/app/silverball?protocol=7&client=js&version=8.5.0&flash=false"
    stopped: "asyncio.Task[None]" = field(init=False)

    @property
    def hub(self) -> Hub:
        return self.feed.hub

    def url(self, path: str | None = None) -> str:
        return f"ws://127.0.0.1:{self.port}{path or self.path}"

    @asynccontextmanager
    async def client(self, path: str | None = None, **options: Any) -> AsyncIterator[ClientConnection]:
        """An open connection, whose first text is not read yet."""
        options.setdefault("compression", None)
        # A client with a full queue would not read the close either.
        options.setdefault("max_queue", None)
        async with connect(self.url(path), ping_interval=None, proxy=None, **options) as client:
            yield client

    @asynccontextmanager
    async def follower(
        self, *tournament_ids: int, path: str | None = None, **options: Any
    ) -> AsyncIterator[ClientConnection]:
        """A connection that follows these tournaments."""
        async with self.client(path, **options) as client:
            await next_message(client)
            for tournament_id in tournament_ids:
                await subscribe(client, tournament_id)
                await next_message(client)
            yield client


async def next_message(client: ClientConnection) -> Any:
    """The next text, as JSON."""
    async with asyncio.timeout(PATIENCE_SECONDS):
        return json.loads(await client.recv())


async def subscribe(client: ClientConnection, tournament_id: int, **more: Any) -> None:
    data = {"auth": "", "channel": f"tournaments.{tournament_id}", **more}
    await client.send(json.dumps({"event": "pusher:subscribe", "data": data}))


async def read_close(client: ClientConnection) -> tuple[int | None, str | None]:
    """Read to the end; return the code and reason of the close."""
    async with asyncio.timeout(PATIENCE_SECONDS):
        with contextlib.suppress(ConnectionClosedError):
            async for _ in client:
                pass
    return client.close_code, client.close_reason


async def wait_until(question: Callable[[], bool]) -> None:
    """Wait until the question is answered with True."""
    async with asyncio.timeout(PATIENCE_SECONDS):
        while not question():
            await asyncio.sleep(0.005)


def _not_found(_request: Request) -> PlainTextResponse:
    return PlainTextResponse("no", 404)


@asynccontextmanager
async def running_feed(
    *tournament_ids: int,
    rules: HandshakeRules = RULES,
    limits: ConnectionLimits | None = None,
    clock: ManualClock | None = None,
    sweep_seconds: float = 0.02,
    send_bytes: int | None = None,
) -> AsyncIterator[FeedServer]:
    """A server on the loop of the test, so that the test can publish events and set the clock."""
    log = MemoryEvents(*tournament_ids)
    hub = Hub(log, **({} if clock is None else {"now": clock}))
    hub.on_behind = log.on_behind
    log.hub = hub
    feed = Feed(hub, rules, limits or ConnectionLimits(1_000), dice=Random(7), sweep_seconds=sweep_seconds)
    routes = [Route("/{path:path}", _not_found)]
    listener = socket.create_server(("127.0.0.1", 0), backlog=2048)
    if send_bytes is not None:
        # By default the system buffers megabytes for a client that does not read.
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, send_bytes)
    ready = asyncio.Event()
    config = uvicorn.Config(
        Starlette(routes=routes),
        http=connection_class(connection_table(Settings())),
        ws=protocol_class(feed),
        ws_max_size=MESSAGE_BYTES_MAX,
        lifespan="off",
        proxy_headers=False,
        log_config=None,
        access_log=False,
        timeout_graceful_shutdown=15,
    )
    server = FeedServer(listener.getsockname()[1], feed, log, clock, DrainingServer(config, ready.set, feed))
    feed.start()
    server.stopped = asyncio.ensure_future(server.uvicorn_server.serve(sockets=[listener]))
    await ready.wait()
    try:
        yield server
    finally:
        server.uvicorn_server.should_exit = True
        async with asyncio.timeout(PATIENCE_SECONDS):
            await server.stopped
        feed.close()


def run_scenario(scenario: Coroutine[Any, Any, None]) -> None:
    """Run a scenario on the event loop of production."""
    uvloop.run(scenario)
