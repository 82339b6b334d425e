"""Servers that send the same to a thousand sockets: ours, Starlette's, `websockets`' and bare writes.

The last one is the limit: it writes a finished frame to every socket with one bare system call each and
ignores subscriptions. Run as `feed_servers.py ours|starlette|websockets|bare PORT`. Commands are lines on
standard input: `publish N` sends N events at once, `paced N RATE` sends RATE of them a second and answers
with the times of publishing, `cpu` answers with the CPU seconds so far, `stats` with metrics of ours. All
servers send the same bytes.
"""

import asyncio
import contextlib
import json
import os
import sys
import time
from collections.abc import Callable, Coroutine, Sequence
from datetime import UTC, datetime
from typing import Any

import uvicorn
import uvloop
from starlette.applications import Starlette
from starlette.routing import WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect
from websockets.asyncio.server import ServerConnection, broadcast, serve
from websockets.exceptions import ConnectionClosed

from silverball.feed import feed as feed_feed
from silverball.feed import messages
from silverball.feed.feed import ConnectionLimits, Feed, HandshakeRules
from silverball.feed.hub import Hub
from silverball.feed.messages import FrameEncoding, encode_text
from silverball.feed.socket import protocol_class
from silverball.store.tournament.announcements import Announcement, ChannelHead

TOURNAMENT_ID = 42
EPOCH = "k3f9"
# All numbers have six digits, so all frames have the same length.
FIRST_SEQ = 100_000
TEXT_BYTES = 2_000
SUBSCRIBED = messages.subscription_succeeded(messages.channel_name(TOURNAMENT_ID)).decode()
Publish = Callable[[Announcement], Coroutine[Any, Any, None]]


def make_event(seq: int) -> Announcement:
    """An event whose text has 2,000 bytes."""
    empty = len(messages.event(_event_with_filling(seq, ""), "plain"))
    return _event_with_filling(seq, "x" * (TEXT_BYTES - empty))


def _event_with_filling(seq: int, filling: str) -> Announcement:
    data = json.dumps({"gameId": 7, "filling": filling}, separators=(",", ":"))
    return Announcement(TOURNAMENT_ID, EPOCH, seq, "GameCreatedOrUpdated", data, datetime.now(UTC))


class OneTournamentLog:
    """An event log from which nothing is ever replayed."""

    async def head(self, tournament_id: int) -> ChannelHead | None:
        return ChannelHead(EPOCH, FIRST_SEQ, 0) if tournament_id == TOURNAMENT_ID else None

    async def events_page(
        self, tournament_id: int, _after: int, _limit: int, /
    ) -> tuple[ChannelHead | None, Sequence[Announcement]]:
        return await self.head(tournament_id), []


def _serve_uvicorn(app: Any, port: int, **options: Any) -> Coroutine[Any, Any, None]:
    config = uvicorn.Config(app, port=port, http="httptools", log_config=None, access_log=False, **options)
    return uvicorn.Server(config).serve()


async def ours(port: int) -> None:
    """The hub and the class that uvicorn runs the sockets with."""
    hub = Hub(OneTournamentLog())
    feed = Feed(hub, HandshakeRules(feed_feed.parse_apps("silverball=plain")), ConnectionLimits(100_000))
    feed.start()

    async def publish(event: Announcement) -> None:
        hub.publish(event)

    def stats() -> dict[str, Any]:
        return {"closes": dict(hub.metrics.closes_total), "lagging": hub.metrics.lagging}

    obeying = asyncio.create_task(obey_stdin(publish, stats))
    await _serve_uvicorn(Starlette(), port, ws=protocol_class(feed))
    await obeying


async def bare(port: int) -> None:
    """Connections of our server, with events written straight to the file descriptors."""
    feed = Feed(
        Hub(OneTournamentLog()),
        HandshakeRules(feed_feed.parse_apps("silverball=plain")),
        ConnectionLimits(100_000),
    )
    feed.start()
    numbers: list[int] = []

    class Listed(protocol_class(feed)):  # type: ignore[misc]  # made for each feed
        def connection_made(self, transport: asyncio.BaseTransport) -> None:
            super().connection_made(transport)
            numbers.append(transport.get_extra_info("socket").fileno())

    async def publish(event: Announcement) -> None:
        encoded = encode_text(messages.event(event, "plain"), FrameEncoding("plain"))
        for number in numbers:
            if os.write(number, encoded) != len(encoded):
                raise RuntimeError("a socket is full: the audience is too slow to measure this")

    obeying = asyncio.create_task(obey_stdin(publish))
    await _serve_uvicorn(Starlette(), port, ws=Listed)
    await obeying


async def starlette(port: int) -> None:
    """The same fan-out, written in the usual way with Starlette."""
    followers: set[WebSocket] = set()

    async def endpoint(websocket: WebSocket) -> None:
        await websocket.accept()
        await websocket.send_text(messages.connection_established("1.1").decode())
        try:
            while True:
                request = json.loads(await websocket.receive_text())
                if request["event"] == "pusher:subscribe":
                    followers.add(websocket)
                    await websocket.send_text(SUBSCRIBED)
        except WebSocketDisconnect:
            followers.discard(websocket)

    async def publish(event: Announcement) -> None:
        text = messages.event(event, "plain").decode()
        for follower in list(followers):
            await follower.send_text(text)

    obeying = asyncio.create_task(obey_stdin(publish))
    # The receivers answer no pings.
    routes = [WebSocketRoute("/app/{key}", endpoint)]
    await _serve_uvicorn(Starlette(routes=routes), port, ws_ping_interval=None)
    await obeying


async def websockets(port: int) -> None:
    """The same with the broadcast of `websockets`."""
    followers: set[ServerConnection] = set()

    async def handler(connection: ServerConnection) -> None:
        await connection.send(messages.connection_established("1.1").decode())
        # The audience disconnects without a close frame.
        with contextlib.suppress(ConnectionClosed):
            async for text in connection:
                if json.loads(text)["event"] == "pusher:subscribe":
                    followers.add(connection)
                    await connection.send(SUBSCRIBED)
        followers.discard(connection)

    async def publish(event: Announcement) -> None:
        broadcast(followers, messages.event(event, "plain").decode())

    async with serve(handler, "127.0.0.1", port, ping_interval=None):
        await obey_stdin(publish)


async def obey_stdin(publish: Publish, stats: Callable[[], dict[str, Any]] = dict) -> None:
    """Run the commands on standard input until it ends."""
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    seq = FIRST_SEQ
    while line := (await reader.readline()).decode().split():
        answer: object = None
        if line[0] == "publish":
            for _ in range(int(line[1])):
                seq += 1
                await publish(make_event(seq))
        elif line[0] == "paced":
            answer = await _publish_paced(publish, seq, int(line[1]), float(line[2]))
            seq += int(line[1])
        elif line[0] == "cpu":
            answer = time.process_time()
        elif line[0] == "stats":
            answer = stats()
        print(json.dumps(answer), flush=True)


async def _publish_paced(publish: Publish, seq: int, count: int, per_second: float) -> list[int]:
    times = []
    began = time.monotonic()
    for number in range(count):
        await asyncio.sleep(max(0.0, began + number / per_second - time.monotonic()))
        event = make_event(seq + number + 1)
        times.append(time.monotonic_ns())
        await publish(event)
    return times


SERVERS = {"ours": ours, "bare": bare, "starlette": starlette, "websockets": websockets}

if __name__ == "__main__":
    uvloop.run(SERVERS[sys.argv[1]](int(sys.argv[2])))
