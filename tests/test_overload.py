"""A real server under more load than its threads bear: visitors are refused first, scorekeepers last."""

import asyncio
import itertools
import json
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from random import Random

import pytest

import build
from rules.night import a_night
from servers import Servers
from service import stored_nights
from silverball.kit.edge.work_queue import WAITING_MAX, Importance
from silverball.service.users import writes as users_writes
from silverball.store.database.engine import Store

PLAYERS = 16
# More than may wait, and so fewer readers that they may wait beside all visitors that do.
VISITORS = 2 * WAITING_MAX[Importance.VISITOR]
FEW_READERS = WAITING_MAX[Importance.READER] - WAITING_MAX[Importance.VISITOR] - 8
MANY_READERS = 2 * WAITING_MAX[Importance.READER]
# Shorter than Retry-After asks for.
PAUSE_SECONDS = 0.05
_numbers = itertools.count()


@dataclass
class Crowd:
    """Connections that ask again as soon as they have an answer, and the answers."""

    port: int
    path: str
    token: str = ""
    statuses: Counter[int] = field(default_factory=Counter)
    retry_after: set[bytes] = field(default_factory=set)

    @asynccontextmanager
    async def asking(self, connections: int) -> AsyncIterator[None]:
        """Ask on so many connections for as long as the block runs."""
        tasks = [asyncio.create_task(self._ask()) for _ in range(connections)]
        try:
            yield
        finally:
            for task in tasks:
                task.cancel()
            ended = await asyncio.gather(*tasks, return_exceptions=True)
        assert [error for error in ended if not isinstance(error, asyncio.CancelledError)] == []

    async def _ask(self) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        try:
            while True:
                # No two requests are equal, so that none is answered from memory.
                head = f"GET {self.path}?n={next(_numbers)} HTTP/1.1\r\nHost: x\r\n"
                authorization = f"Authorization: Bearer {self.token}\r\n" if self.token else ""
                status, headers = await _exchange(reader, writer, f"{head}{authorization}\r\n".encode())
                self.statuses[status] += 1
                if status == 503:
                    self.retry_after.add(headers[b"retry-after"])
                    await asyncio.sleep(PAUSE_SECONDS)
        finally:
            writer.transport.abort()


async def _exchange(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, request: bytes
) -> tuple[int, dict[bytes, bytes]]:
    writer.write(request)
    first, *lines = (await reader.readuntil(b"\r\n\r\n")).strip().split(b"\r\n")
    headers = dict(line.lower().split(b": ", 1) for line in lines)
    await reader.readexactly(int(headers[b"content-length"]))
    return int(first.split()[1]), headers


@dataclass(frozen=True)
class BusyNight:
    """A server with a running tournament, its scorekeeper's token, and a stranger's."""

    port: int
    path: str
    token: str
    strangers_token: str
    games: list[tuple[int, list[int]]]

    async def record_results(self) -> list[int]:
        """Send the results of all open games, each over a connection of its own; returns the statuses."""
        return [await self._record(game_id, player_ids) for game_id, player_ids in self.games]

    async def _record(self, game_id: int, player_ids: list[int]) -> int:
        body = json.dumps({"resultPositions": player_ids}).encode()
        head = (
            f"PUT {self.path}/games/{game_id}/result HTTP/1.1\r\nHost: x\r\n"
            f"Authorization: Bearer {self.token}\r\nContent-Type: application/json\r\n"
            f"Content-Length: {len(body)}\r\n\r\n"
        )
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        with suppress(OSError):
            status, _ = await _exchange(reader, writer, head.encode() + body)
        writer.close()
        return status


@pytest.fixture
def busy_night(store: Store, database_url: str) -> Iterator[BusyNight]:
    night = stored_nights.a_stored_night(
        store, a_night("matchplay", players=PLAYERS, arenas=8, gamesPerRound=1)
    )
    night.start()
    night.open_round()
    games = [(game.game_id, list(game.player_ids)) for game in night.open_games()]
    token = _token(store, stored_nights.ORGANIZER_ID, "score")
    stranger = _token(store, build.a_user(store, user_id=9_000, name="Sid Tilt"), "read")
    path = f"/api/tournaments/{night.tournament.tournament_id}"
    servers = Servers.without_limits(database_url, SILVERBALL_PUBLIC_READ="true")
    try:
        servers.start()
        yield BusyNight(servers.port, path, token, stranger, games)
    finally:
        servers.close()


def _token(store: Store, user_id: int, ability: str) -> str:
    with store.write() as transaction:
        return users_writes.create_token(
            transaction.connection,
            user_id,
            "overload",
            abilities=[ability],
            now=datetime.now(UTC),
            dice=Random(user_id),
        ).text


def test_visitors_are_refused_before_readers_and_results_are_always_recorded(busy_night: BusyNight) -> None:
    visitors = Crowd(busy_night.port, f"{busy_night.path}/games")
    readers = Crowd(busy_night.port, f"{busy_night.path}/games", busy_night.strangers_token)

    async def scenario() -> list[int]:
        async with asyncio.timeout(60), visitors.asking(VISITORS), readers.asking(FEW_READERS):
            await asyncio.sleep(0.5)
            return await busy_night.record_results()

    assert set(asyncio.run(scenario())) == {200}
    assert set(readers.statuses) == {200}
    # Readers go first, so that hardly a visitor is served beside so many of them.
    assert set(visitors.statuses) <= {200, 503}
    assert visitors.statuses[503] >= VISITORS // 4
    assert visitors.retry_after == {b"1"}


def test_readers_are_refused_before_scorekeepers(busy_night: BusyNight) -> None:
    readers = Crowd(busy_night.port, f"{busy_night.path}/games", busy_night.strangers_token)

    async def scenario() -> list[int]:
        async with asyncio.timeout(60), readers.asking(MANY_READERS):
            await asyncio.sleep(0.5)
            return await busy_night.record_results()

    assert set(asyncio.run(scenario())) == {200}
    assert set(readers.statuses) == {200, 503}
    assert readers.retry_after == {b"1"}
