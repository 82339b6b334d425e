"""The loop of the server sleeps for a second at a time, and is awake at once when it is to stop."""

import asyncio
from collections.abc import Awaitable, Callable

import uvicorn

from silverball.cli.server import DrainingServer

# Less than the second between two looks.
NOTICED_SECONDS_MAX = 0.5


class NobodyFollows:
    """Sockets that are closed already."""

    async def drain(self, sleep: Callable[[float], Awaitable[None]]) -> None:
        """Do nothing."""


async def nothing(_scope: object, _receive: object, _send: object) -> None:
    """Answer nobody."""


def test_a_stop_is_noticed_before_the_next_second_and_the_headers_have_a_date() -> None:
    server = DrainingServer(uvicorn.Config(nothing, log_config=None), lambda: None, NobodyFollows())
    server.config.load()

    async def scenario() -> None:
        running = asyncio.create_task(server.main_loop())
        await asyncio.sleep(0)
        assert dict(server.server_state.default_headers)[b"date"].endswith(b" GMT")
        await asyncio.sleep(0.05)
        assert not running.done()
        server.should_exit = True
        await asyncio.wait_for(running, NOTICED_SECONDS_MAX)

    asyncio.run(scenario())


def test_a_server_that_was_to_stop_before_its_loop_began_ends_at_once() -> None:
    server = DrainingServer(uvicorn.Config(nothing, log_config=None), lambda: None, NobodyFollows())
    server.config.load()
    server.should_exit = True
    asyncio.run(asyncio.wait_for(server.main_loop(), NOTICED_SECONDS_MAX))
