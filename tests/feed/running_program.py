"""The whole program on a real port over a real database, on the loop of the test.

async with running_program(store) as program:
    await program.write("PATCH", f"/api/tournaments/{tournament_id}", {"name": "Friday"})
"""

import asyncio
import json
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from random import Random
from typing import Any

import httpx2
import uvicorn
from websockets.asyncio.client import ClientConnection, connect

import build
from feed.feed_server import next_message, subscribe
from silverball import app
from silverball.cli.server import DrainingServer, connection_table
from silverball.feed.feed import FeedService
from silverball.feed.socket import protocol_class
from silverball.kit.edge.bounded_http import connection_class
from silverball.service.users import writes as users_writes
from silverball.settings import Settings
from silverball.store.database.engine import Store
from silverball.store.tournament import announcements

SETTINGS = Settings(base_url=build.BASE_URL, rate_limit_per_minute=0, standings_interval_seconds=0)


@dataclass
class RunningProgram:
    """The program, while it runs."""

    store: Store
    port: int
    broadcast: FeedService
    http: httpx2.AsyncClient

    async def write(self, method: str, path: str, body: Any = None) -> Any:
        """Send a write that must succeed; return its decoded answer."""
        answer = await self.http.request(method, path, json=body)
        assert answer.status_code < 300, (method, path, answer.text)
        return answer.json()

    @asynccontextmanager
    async def follower(self, tournament_id: int, **resume: Any) -> AsyncIterator[ClientConnection]:
        """A socket that follows the tournament; with `epoch` and `seq` it resumes from there."""
        url = f"ws://127.0.0.1:{self.port}/app/silverball?protocol=7&client=js&version=8.5.0&flash=false"
        # A client with a full queue would not read the close either.
        options: dict[str, Any] = {"ping_interval": None, "proxy": None, "max_queue": None}
        async with connect(url, compression=None, max_size=None, **options) as client:
            await next_message(client)
            await subscribe(client, tournament_id, **({"resume": resume} if resume else {}))
            yield client


@asynccontextmanager
async def running_program(store: Store, **chosen: Any) -> AsyncIterator[RunningProgram]:
    """The program, started and stopped as `silverball serve` does it."""
    settings = replace(SETTINGS, **chosen)
    broadcast = FeedService(store, settings)
    listener = socket.create_server(("127.0.0.1", 0), backlog=2048)
    ready = asyncio.Event()
    config = uvicorn.Config(
        app.build(store, settings, broadcast=broadcast),
        http=connection_class(connection_table(settings)),
        ws=protocol_class(broadcast.feed),
        lifespan="on",
        log_config=None,
        access_log=False,
        timeout_graceful_shutdown=15,
    )
    server = DrainingServer(config, ready.set, broadcast)
    stopped = asyncio.ensure_future(server.serve(sockets=[listener]))
    await ready.wait()
    port = listener.getsockname()[1]
    headers = {"Authorization": f"Bearer {admin_token(store)}"}
    try:
        async with httpx2.AsyncClient(
            base_url=f"http://127.0.0.1:{port}", headers=headers, timeout=30, trust_env=False
        ) as http:
            yield RunningProgram(store, port, broadcast, http)
    finally:
        server.should_exit = True
        async with asyncio.timeout(30):
            await stopped


def admin_token(store: Store) -> str:
    """The token of an admin."""
    admin = build.a_user(store, name="Ada Min", role="admin")
    with store.write() as transaction:
        created = users_writes.create_token(
            transaction.connection, admin, "feed", abilities=["admin"], now=datetime.now(UTC), dice=Random(5)
        )
    return created.text


def announce(store: Store, tournament_id: int, count: int = 1, name: str = "TournamentUpdated") -> None:
    """Announce events whose content does not matter."""
    with store.write(tournament_id) as transaction:
        events = [(name, json.dumps({"tournamentId": tournament_id, "n": n})) for n in range(count)]
        announcements.append(transaction, tournament_id, events)


async def wait_until(question: Callable[[], bool], seconds: float = 10.0) -> None:
    """Wait until the question is answered with True."""
    async with asyncio.timeout(seconds):
        while not question():
            await asyncio.sleep(0.01)
