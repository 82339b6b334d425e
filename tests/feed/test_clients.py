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

from feed.feed_server import FeedServer, run_scenario, running_feed, wait_until

CLIENTS = Path(__file__).parents[1] / "clients"
NODE = shutil.which("node")
needs_node = pytest.mark.skipif(
    NODE is None or not (CLIENTS / "node_modules").is_dir(),
    reason="node or tests/clients/node_modules is missing (npm ci --prefix tests/clients)",
)
PLAIN, LARAVEL = "silverball", "silverball-laravel"


class Program:
    """A client program that prints the messages it receives as lines of JSON."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process

    async def read_words(self, *first: object) -> list[Any]:
        """The next line that begins with these words."""
        assert self._process.stdout is not None
        heard: list[Any] = []
        try:
            async with asyncio.timeout(20):
                while line := await self._process.stdout.readline():
                    heard.append(json.loads(line))
                    if heard[-1][: len(first)] == list(first):
                        words: list[Any] = heard[-1]
                        return words
        except TimeoutError:
            pass
        assert self._process.stderr is not None
        raise AssertionError(f"heard {heard} instead of {first}")

    def send_word(self, word: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(f"{word}\n".encode())


@asynccontextmanager
async def _run_program(server: FeedServer, name: str, key: str, channel: str) -> AsyncIterator[Program]:
    runner = sys.executable if name.endswith(".py") else str(NODE)
    process = await asyncio.create_subprocess_exec(
        runner,
        *(["-W", "ignore"] if name.endswith(".py") else []),
        str(CLIENTS / name),
        str(server.port),
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
        async with (
            running_feed(42) as server,
            _run_program(server, "pusher.cjs", PLAIN, "tournaments.42") as client,
        ):
            await client.read_words("state", "connected")
            await client.read_words("subscribed")
            server.events.publish(42, "GameCreatedOrUpdated", '{"gameId":1,"name":"Zürich"}')
            event = await client.read_words("event")
            # The library has parsed the JSON text inside the JSON.
            assert event == ["event", "GameCreatedOrUpdated", {"gameId": 1, "name": "Zürich"}]
            client.send_word("unsubscribe")
            await wait_until(lambda: server.hub.metrics.subscriptions == 0)
            client.send_word("again")
            await client.read_words("subscribed")
            server.events.publish(42, "PlayersAdded", '{"playerIds":[7]}')
            assert await client.read_words("event") == ["event", "PlayersAdded", {"playerIds": [7]}]
            # The library ignores events that it does not know.
            client.send_word("resume")
            await client.read_words("subscribed")
            for name in ("GameCreatedOrUpdated", "PlayersAdded"):
                assert (await client.read_words("event"))[1] == name

    run_scenario(scenario())


@needs_node
def test_pusher_js_reconnects_at_once_when_the_server_goes_down() -> None:
    async def scenario() -> None:
        async with (
            running_feed(42) as server,
            _run_program(server, "pusher.cjs", PLAIN, "tournaments.42") as client,
        ):
            await client.read_words("subscribed")

            async def begin_anew(_seconds: float) -> None:
                server.feed.is_draining = False

            await server.feed.drain(begin_anew)
            await client.read_words("state", "connecting")
            await client.read_words("subscribed")
            server.events.publish(42)
            await client.read_words("event", "GameCreatedOrUpdated")
            assert server.hub.metrics.connections_total == 2

    run_scenario(scenario())


@needs_node
@pytest.mark.parametrize(("key", "code"), [("nobody", 4001), ("old", 4003)])
def test_pusher_js_gives_up_when_it_is_refused(key: str, code: int) -> None:
    async def scenario() -> None:
        async with (
            running_feed(42) as server,
            _run_program(server, "pusher.cjs", key, "tournaments.42") as client,
        ):
            assert await client.read_words("error") == ["error", code]
            await client.read_words("state", "disconnected")
            # By now it would have reconnected.
            await asyncio.sleep(1.5)
            assert server.hub.metrics.connections_total == 1

    run_scenario(scenario())


@needs_node
@pytest.mark.parametrize(
    ("channel", "refused"),
    [("tournaments.99", ["NotFound", 404]), ("players.42", ["AuthError", 403])],
)
def test_pusher_js_reports_why_it_cannot_follow(channel: str, refused: list[object]) -> None:
    async def scenario() -> None:
        async with running_feed(42) as server, _run_program(server, "pusher.cjs", PLAIN, channel) as client:
            assert await client.read_words("refused") == ["refused", *refused]

    run_scenario(scenario())


@needs_node
def test_laravel_echo_receives_the_events_of_its_namespace() -> None:
    async def scenario() -> None:
        async with (
            running_feed(42) as server,
            _run_program(server, "echo.mjs", LARAVEL, "tournaments.42") as client,
        ):
            await client.read_words("subscribed")
            for name, data in (
                ("TournamentUpdated", {"tournamentId": 42}),
                ("GameCreatedOrUpdated", {"gameId": 1}),
                ("GamesDeleted", {"tournamentId": 42, "gameIds": [1]}),
            ):
                server.events.publish(42, name, json.dumps(data))
                assert await client.read_words("event") == ["event", name, data]
            client.send_word("leave")
            await wait_until(lambda: server.hub.metrics.subscriptions == 0)

    run_scenario(scenario())


@needs_node
def test_laravel_echo_reports_why_it_cannot_follow() -> None:
    async def scenario() -> None:
        async with (
            running_feed(42) as server,
            _run_program(server, "echo.mjs", LARAVEL, "tournaments.99") as client,
        ):
            assert await client.read_words("refused") == ["refused", "NotFound", 404]

    run_scenario(scenario())


def test_pysher_connects_and_follows() -> None:
    pytest.importorskip("pysher", reason="Pysher is not installed", exc_type=ImportError)

    async def scenario() -> None:
        async with (
            running_feed(42) as server,
            _run_program(server, "pysher_client.py", PLAIN, "tournaments.42") as client,
        ):
            await client.read_words("connected")
            await client.read_words("subscribed")
            server.events.publish(42, "GameCreatedOrUpdated", '{"gameId":1}')
            event = await client.read_words("event")
            assert event == ["event", "GameCreatedOrUpdated", '{"gameId":1}']

    run_scenario(scenario())


def test_pysher_reports_why_it_is_refused() -> None:
    pytest.importorskip("pysher", reason="Pysher is not installed", exc_type=ImportError)

    async def scenario() -> None:
        async with (
            running_feed(42) as server,
            _run_program(server, "pysher_client.py", "nobody", "tournaments.42") as client,
        ):
            error = await client.read_words("error")
            assert (
                json.loads(error[1])["code"] == 4001
                if isinstance(error[1], str)
                else error[1]["code"] == 4001
            )

    run_scenario(scenario())
