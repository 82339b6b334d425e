"""Published clients, unmodified, against the real server: pusher-js, Laravel Echo and Pysher."""

import asyncio
import json
import os
import shutil
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from feed.serving import House, run, serving, until

CLIENTS = Path(__file__).parents[1] / "clients"
NODE = shutil.which("node")
needs_node = pytest.mark.skipif(
    NODE is None or not (CLIENTS / "node_modules").is_dir(),
    reason="node or tests/clients/node_modules is missing (npm ci --prefix tests/clients)",
)
PLAIN, LARAVEL = "silverball", "silverball-laravel"


class Program:
    """A client that runs as a program and says in lines of JSON what it hears."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process

    async def hears(self, *first: object) -> list[Any]:
        """What it says next that begins with these words."""
        assert self._process.stdout is not None
        heard: list[Any] = []
        try:
            async with asyncio.timeout(20):
                while line := await self._process.stdout.readline():
                    heard.append(json.loads(line))
                    if heard[-1][: len(first)] == list(first):
                        told: list[Any] = heard[-1]
                        return told
        except TimeoutError:
            pass
        assert self._process.stderr is not None
        raise AssertionError(f"heard {heard} instead of {first}")

    def tell(self, word: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(f"{word}\n".encode())


@asynccontextmanager
async def _program(house: House, name: str, key: str, channel: str) -> AsyncIterator[Program]:
    runner = sys.executable if name.endswith(".py") else str(NODE)
    process = await asyncio.create_subprocess_exec(
        runner,
        *(["-W", "ignore"] if name.endswith(".py") else []),
        str(CLIENTS / name),
        str(house.port),
        key,
        channel,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env={**os.environ, "NO_PROXY": "127.0.0.1"},
    )
    try:
        yield Program(process)
    finally:
        assert process.stdin is not None
        process.stdin.close()
        async with asyncio.timeout(20):
            await process.communicate()


@needs_node
def test_pusher_js_connects_follows_leaves_and_comes_back() -> None:
    async def scenario() -> None:
        async with serving(42) as house, _program(house, "pusher.cjs", PLAIN, "tournaments.42") as client:
            await client.hears("state", "connected")
            await client.hears("subscribed")
            house.log.say(42, "GameCreatedOrUpdated", '{"gameId":1,"name":"Zürich"}')
            event = await client.hears("event")
            # The library has parsed the text inside the text.
            assert event == ["event", "GameCreatedOrUpdated", {"gameId": 1, "name": "Zürich"}]
            client.tell("unsubscribe")
            await until(lambda: house.hub.metrics.subscriptions == 0)
            client.tell("again")
            await client.hears("subscribed")
            house.log.say(42, "PlayersAdded", '{"playerIds":[7]}')
            assert await client.hears("event") == ["event", "PlayersAdded", {"playerIds": [7]}]
            # What the library does not know does not disturb it.
            client.tell("resume")
            await client.hears("subscribed")
            for name in ("GameCreatedOrUpdated", "PlayersAdded"):
                assert (await client.hears("event"))[1] == name

    run(scenario())


@needs_node
def test_pusher_js_comes_back_at_once_when_the_server_goes_down() -> None:
    async def scenario() -> None:
        async with serving(42) as house, _program(house, "pusher.cjs", PLAIN, "tournaments.42") as client:
            await client.hears("subscribed")

            async def begin_anew(_seconds: float) -> None:
                house.feed.is_draining = False

            await house.feed.drain(begin_anew)
            await client.hears("state", "connecting")
            await client.hears("subscribed")
            house.log.say(42)
            await client.hears("event", "GameCreatedOrUpdated")
            assert house.hub.metrics.connections_total == 2

    run(scenario())


@needs_node
@pytest.mark.parametrize(("key", "code"), [("nobody", 4001), ("old", 4003)])
def test_pusher_js_gives_up_where_it_is_not_let_in(key: str, code: int) -> None:
    async def scenario() -> None:
        async with serving(42) as house, _program(house, "pusher.cjs", key, "tournaments.42") as client:
            assert await client.hears("error") == ["error", code]
            await client.hears("state", "disconnected")
            # It would have tried again by now.
            await asyncio.sleep(1.5)
            assert house.hub.metrics.connections_total == 1

    run(scenario())


@needs_node
@pytest.mark.parametrize(
    ("channel", "refused"),
    [("tournaments.99", ["NotFound", 404]), ("players.42", ["AuthError", 403])],
)
def test_pusher_js_hears_why_it_cannot_follow(channel: str, refused: list[object]) -> None:
    async def scenario() -> None:
        async with serving(42) as house, _program(house, "pusher.cjs", PLAIN, channel) as client:
            assert await client.hears("refused") == ["refused", *refused]

    run(scenario())


@needs_node
def test_laravel_echo_hears_the_events_of_its_namespace() -> None:
    async def scenario() -> None:
        async with serving(42) as house, _program(house, "echo.mjs", LARAVEL, "tournaments.42") as client:
            await client.hears("subscribed")
            for name, data in (
                ("TournamentUpdated", {"tournamentId": 42}),
                ("GameCreatedOrUpdated", {"gameId": 1}),
                ("GamesDeleted", {"tournamentId": 42, "gameIds": [1]}),
            ):
                house.log.say(42, name, json.dumps(data))
                assert await client.hears("event") == ["event", name, data]
            client.tell("leave")
            await until(lambda: house.hub.metrics.subscriptions == 0)

    run(scenario())


@needs_node
def test_laravel_echo_hears_why_it_cannot_follow() -> None:
    async def scenario() -> None:
        async with serving(42) as house, _program(house, "echo.mjs", LARAVEL, "tournaments.99") as client:
            assert await client.hears("refused") == ["refused", "NotFound", 404]

    run(scenario())


def test_pysher_connects_and_follows() -> None:
    pytest.importorskip("pysher", reason="Pysher is not installed", exc_type=ImportError)

    async def scenario() -> None:
        async with (
            serving(42) as house,
            _program(house, "pysher_client.py", PLAIN, "tournaments.42") as client,
        ):
            await client.hears("connected")
            await client.hears("subscribed")
            house.log.say(42, "GameCreatedOrUpdated", '{"gameId":1}')
            event = await client.hears("event")
            assert event == ["event", "GameCreatedOrUpdated", '{"gameId":1}']

    run(scenario())


def test_pysher_hears_why_it_is_not_let_in() -> None:
    pytest.importorskip("pysher", reason="Pysher is not installed", exc_type=ImportError)

    async def scenario() -> None:
        async with (
            serving(42) as house,
            _program(house, "pysher_client.py", "nobody", "tournaments.42") as client,
        ):
            told = await client.hears("error")
            assert (
                json.loads(told[1])["code"] == 4001 if isinstance(told[1], str) else told[1]["code"] == 4001
            )

    run(scenario())
