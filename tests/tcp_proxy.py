"""A TCP proxy of one test: it can fall silent, delay, or cut what passes through it.

    with TcpProxy(("127.0.0.1", 6379)) as proxy:
        connect_to(proxy.port)
        proxy.blackhole()   # nothing arrives any more, nothing is closed
        proxy.forward()     # what was held back arrives; `proxy.forward(lose_old=True)`: it never does
        proxy.delay(0.5)    # every byte arrives half a second later, each way
        proxy.limit(50_000) # no more bytes a second than this, each way
        proxy.cut()         # every connection is reset

The target is an address, or the path of a Unix socket.
"""

import asyncio
import contextlib
import socket
import struct
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Self

CHUNK_BYTES = 64 * 1024
# What is on its way in one direction; more is held back at the sender.
CHUNKS_MAX = 256
START_SECONDS_MAX = 60
# A socket that is closed with this is reset instead.
LINGER_NOT = struct.pack("ii", 1, 0)

Target = tuple[str, int] | Path
Pipe = asyncio.Queue[tuple[float, bytes]]


class _Link:
    """A connection of a client and the one to the target that belongs to it."""

    def __init__(self, proxy: "TcpProxy", client: asyncio.StreamWriter) -> None:
        self._proxy = proxy
        self._client = client
        self._target: asyncio.StreamWriter | None = None
        # Lost by a blackhole: silent for good, and never closed by us.
        self.is_lost = False

    async def run(self, reader: asyncio.StreamReader) -> None:
        """Forward both ways until one side closes."""
        try:
            await self._wait_for_passage()
            target_reader, self._target = await self._proxy.open_target()
            both = (self._pump(reader, self._target), self._pump(target_reader, self._client))
            tasks = [asyncio.ensure_future(pump) for pump in both]
            try:
                await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            finally:
                for task in tasks:
                    task.cancel()
        except OSError:
            pass
        finally:
            for writer in self._writers():
                # What is on its way is still delivered.
                writer.close()

    def reset(self) -> None:
        """Reset both sides at once."""
        for writer in self._writers():
            own: socket.socket = writer.get_extra_info("socket")
            if own.family != socket.AF_UNIX:
                own.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, LINGER_NOT)
            writer.transport.abort()

    def _writers(self) -> list[asyncio.StreamWriter]:
        both = (self._client, self._target)
        return [writer for writer in both if writer is not None and not writer.transport.is_closing()]

    async def _pump(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        pipe: Pipe = asyncio.Queue(CHUNKS_MAX)
        delivery = asyncio.ensure_future(self._deliver(pipe, writer))
        try:
            while True:
                await self._wait_for_passage()
                chunk = await reader.read(CHUNK_BYTES)
                self._proxy.note_direction(is_to_client=writer is self._client)
                await pipe.put((asyncio.get_running_loop().time() + self._proxy.delay_seconds, chunk))
                if not chunk:
                    # An end is held back like anything else.
                    await delivery
                    return
        except OSError:
            return
        finally:
            delivery.cancel()

    async def _deliver(self, pipe: Pipe, writer: asyncio.StreamWriter) -> None:
        while True:
            due, chunk = await pipe.get()
            await asyncio.sleep(max(0.0, due - asyncio.get_running_loop().time()))
            await self._wait_for_passage()
            if not chunk:
                return
            await self._proxy.wait_for_room(writer is self._client, len(chunk))
            writer.write(chunk)
            await writer.drain()

    async def _wait_for_passage(self) -> None:
        await self._proxy.passage.wait()
        if self.is_lost:
            await asyncio.Event().wait()


class TcpProxy:
    """A port on loopback whose connections go on to the target."""

    def __init__(self, target: Target) -> None:
        self._target = target
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="tcp-proxy", daemon=True)
        self._server: asyncio.Server | None = None
        self._links: dict[_Link, asyncio.Task[None]] = {}
        self.passage = asyncio.Event()
        self.passage.set()
        self.delay_seconds = 0.0
        # How often a client has sent something after the target has; with a delay, how often it waited.
        self.turns = 0
        self._was_to_client = True
        self._bytes_per_second = 0.0
        # When the line is free again, towards the target and towards the clients.
        self._free_at = [0.0, 0.0]
        self.port = 0

    def start(self) -> Self:
        """Listen on a free port, or on the port from before a `stop`."""
        if not self._thread.is_alive():
            self._thread.start()
        self._run(self._listen)
        return self

    def stop(self) -> None:
        """Refuse new connections and reset the open ones; `start` listens on the same port again."""
        self._run(self._refuse)
        self.cut()

    def blackhole(self) -> None:
        """Forward nothing more, and close nothing. New connections are accepted and get no answer."""
        self._run(self.passage.clear)

    def forward(self, *, lose_old: bool = False) -> None:
        """Forward again. `lose_old`: connections from before stay silent, as after a lost machine."""

        def open_passage() -> None:
            if lose_old:
                for link in self._links:
                    link.is_lost = True
            self.passage.set()

        self._run(open_passage)

    def delay(self, seconds: float) -> None:
        """Let every byte arrive this much later, each way."""
        self._run(lambda: setattr(self, "delay_seconds", seconds))

    def limit(self, bytes_per_second: float) -> None:
        """Let no more bytes a second arrive than this, each way, all connections together; 0 ends it."""
        self._run(lambda: setattr(self, "_bytes_per_second", bytes_per_second))

    async def wait_for_room(self, is_to_client: bool, size: int) -> None:
        """Wait for as long as the limited line needs for so many bytes."""
        if not self._bytes_per_second:
            return
        now = asyncio.get_running_loop().time()
        self._free_at[is_to_client] = max(now, self._free_at[is_to_client]) + size / self._bytes_per_second
        await asyncio.sleep(self._free_at[is_to_client] - now)

    def note_direction(self, *, is_to_client: bool) -> None:
        """Count what a client sends after the target has sent something. For one connection at a time."""
        self.turns += self._was_to_client and not is_to_client
        self._was_to_client = is_to_client

    def cut(self) -> None:
        """Reset every open connection."""

        def reset_all() -> None:
            for link, task in self._links.items():
                link.reset()
                task.cancel()

        self._run(reset_all)

    def connections(self) -> int:
        """The number of open connections."""
        return len(self._links)

    def close(self) -> None:
        """Stop for good."""
        self.stop()
        self._run(self._end_links)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(START_SECONDS_MAX)
        self._loop.close()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.close()

    async def open_target(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """Connect to the target."""
        if isinstance(self._target, Path):
            return await asyncio.open_unix_connection(self._target)
        return await asyncio.open_connection(*self._target)

    async def _listen(self) -> None:
        self._server = await asyncio.start_server(
            self._accept, "127.0.0.1", self.port, reuse_address=True, family=socket.AF_INET
        )
        self.port = self._server.sockets[0].getsockname()[1]

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        link = _Link(self, writer)
        task = asyncio.current_task()
        assert task is not None
        self._links[link] = task
        # A cut connection is no fault of the test.
        with contextlib.suppress(asyncio.CancelledError):
            await link.run(reader)
        del self._links[link]

    async def _refuse(self) -> None:
        if self._server is not None:
            self._server.close()

    async def _end_links(self) -> None:
        await asyncio.gather(*self._links.values(), return_exceptions=True)

    def _run(self, action: Callable[[], object]) -> None:
        """Run the action in the proxy's thread, and wait for it."""

        async def call() -> None:
            result = action()
            if asyncio.iscoroutine(result):
                await result

        asyncio.run_coroutine_threadsafe(call(), self._loop).result(START_SECONDS_MAX)
