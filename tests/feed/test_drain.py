"""Shutdown: all clients are asked to reconnect, a few at a time, in random order."""

import asyncio
from contextlib import AsyncExitStack

import pytest
from websockets.exceptions import ConnectionClosed

from feed.feed_server import next_message, read_close, run_scenario, running_feed


def test_all_clients_get_4200_before_the_server_is_gone() -> None:
    async def scenario() -> None:
        async with running_feed(42) as server:
            async with server.follower(42) as client:
                server.uvicorn_server.should_exit = True
                message = await next_message(client)
                assert (message["event"], message["data"]["code"]) == ("pusher:error", 4200)
                assert (await read_close(client))[0] == 4200
                with pytest.raises((OSError, ConnectionClosed, EOFError)):
                    async with server.client():
                        pass
            async with asyncio.timeout(5):
                await server.stopped

    run_scenario(scenario())


def test_a_thousand_a_second_go_in_random_order() -> None:
    async def scenario() -> None:
        async with AsyncExitStack() as stack:
            server = await stack.enter_async_context(running_feed(42))
            followers = [await stack.enter_async_context(server.follower(42)) for _ in range(240)]
            gone: list[int] = []
            waits: list[tuple[float, int]] = []

            async def watch(number: int) -> None:
                await read_close(followers[number])
                gone.append(number)

            async def sleep(seconds: float) -> None:
                await asyncio.sleep(0.2)
                waits.append((seconds, len(gone)))

            watching = [asyncio.ensure_future(watch(number)) for number in range(240)]
            await server.feed.drain(sleep)
            await asyncio.gather(*watching)
            # A hundred in a tenth of a second.
            assert waits == [(0.1, 100), (0.1, 200), (0.1, 240)]
            assert gone != sorted(gone)
            assert {follower.close_code for follower in followers} == {4200}

    run_scenario(scenario())


def test_a_client_that_does_not_read_cannot_delay_the_shutdown() -> None:
    async def scenario() -> None:
        async with running_feed(42) as server, server.follower(42) as client:
            client.transport.pause_reading()
            server.uvicorn_server.should_exit = True
            async with asyncio.timeout(15):
                await server.stopped
            assert server.hub.metrics.connections == 0
            client.transport.abort()

    run_scenario(scenario())
