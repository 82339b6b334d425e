"""The whole server with a timer of five milliseconds on its event loop, as others' requests would wait.

Run as `feed_storm_server.py PORT`, with settings in the environment. Commands are lines on standard input:
`begin` forgets the timer's delays so far, `delays` answers with them in milliseconds, sorted.
"""

import asyncio
import json
import sys
import time

from silverball import settings
from silverball.cli import database, server
from silverball.store.database.deadlines import REQUESTS

TIMER_SECONDS = 0.005


class LoopTimer:
    """A timer that notes how late the event loop calls it."""

    def __init__(self) -> None:
        self._delays: list[float] = []
        self._tasks: list[asyncio.Task[None]] = []

    def start(self) -> None:
        """Begin to tick and to obey, on the loop that runs."""
        loop = asyncio.get_running_loop()
        self._tasks += [loop.create_task(self._tick()), loop.create_task(self._obey())]

    async def _tick(self) -> None:
        while True:
            due = time.monotonic() + TIMER_SECONDS
            await asyncio.sleep(TIMER_SECONDS)
            self._delays.append((time.monotonic() - due) * 1000)

    async def _obey(self) -> None:
        loop = asyncio.get_running_loop()
        reader = asyncio.StreamReader(limit=1 << 20)
        await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
        while line := (await reader.readline()).split():
            answer = sorted(self._delays) if line == [b"delays"] else None
            self._delays.clear()
            print(json.dumps(answer), flush=True)


def main() -> None:
    """Serve until terminated."""
    configured = settings.load()
    with (
        server.open_listener("127.0.0.1", int(sys.argv[1])) as listener,
        database.open_database(may_create=True, limits=REQUESTS) as store,
    ):
        server.run_server(store, configured, listener, when_ready=LoopTimer().start)


if __name__ == "__main__":
    main()
