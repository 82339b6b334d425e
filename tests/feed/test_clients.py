"""Published clients, unmodified, against the real server: pusher-js, Laravel Echo and Pysher."""

import asyncio
import json

import pytest

from feed.client_programs import LARAVEL, PLAIN, needs_node, run_program
from feed.feed_server import run_scenario, running_feed, wait_until


@needs_node
def test_pusher_js_connects_follows_leaves_and_comes_back() -> None:
    async def scenario() -> None:
        async with (
            running_feed(42) as server,
            run_program(server, "pusher.cjs", PLAIN, "tournaments.42") as client,
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
            run_program(server, "pusher.cjs", PLAIN, "tournaments.42") as client,
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
            run_program(server, "pusher.cjs", key, "tournaments.42") as client,
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
        async with running_feed(42) as server, run_program(server, "pusher.cjs", PLAIN, channel) as client:
            assert await client.read_words("refused") == ["refused", *refused]

    run_scenario(scenario())


@needs_node
def test_laravel_echo_receives_the_events_of_its_namespace() -> None:
    async def scenario() -> None:
        async with (
            running_feed(42) as server,
            run_program(server, "echo.mjs", LARAVEL, "tournaments.42") as client,
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
            run_program(server, "echo.mjs", LARAVEL, "tournaments.99") as client,
        ):
            assert await client.read_words("refused") == ["refused", "NotFound", 404]

    run_scenario(scenario())


def test_pysher_connects_and_follows() -> None:
    pytest.importorskip("pysher", reason="Pysher is not installed", exc_type=ImportError)

    async def scenario() -> None:
        async with (
            running_feed(42) as server,
            run_program(server, "pysher_client.py", PLAIN, "tournaments.42") as client,
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
            run_program(server, "pysher_client.py", "nobody", "tournaments.42") as client,
        ):
            error = await client.read_words("error")
            assert (
                json.loads(error[1])["code"] == 4001
                if isinstance(error[1], str)
                else error[1]["code"] == 4001
            )

    run_scenario(scenario())
