"""A connection between a browser and a server that a test can cut, freeze, or block for some requests."""

import asyncio
import threading
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


class BreakableConnection:
    """A loopback port that forwards to the port `to`."""

    def __init__(self) -> None:
        self.to = 0
        # Requests whose first line begins like this are dropped.
        self.blocked: tuple[bytes, ...] = ()
        self._is_cut = False
        self._writers: set[asyncio.StreamWriter] = set()
        self._loop = asyncio.new_event_loop()
        self._flows = asyncio.Event()
        self._flows.set()
        self._thread = threading.Thread(target=self._loop.run_forever)
        self._thread.start()
        self._server = self._run(asyncio.start_server(self._joined, "127.0.0.1", 0))
        self.port: int = self._server.sockets[0].getsockname()[1]

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def cut(self) -> None:
        """Drop all connections, and refuse new ones."""
        self._is_cut = True
        self._run(self._hang_up())

    def freeze(self) -> None:
        """Stop forwarding without closing any connection."""
        self._loop.call_soon_threadsafe(self._flows.clear)

    def mend(self) -> None:
        self._is_cut = False
        self._loop.call_soon_threadsafe(self._flows.set)

    def close(self) -> None:
        self.mend()
        self._run(self._shut())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def _run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result(10)

    async def _shut(self) -> None:
        # In the loop's own thread, because a connection that ends at the same time uses the server too.
        self._server.close()
        await self._hang_up()

    async def _hang_up(self) -> None:
        for writer in self._writers:
            writer.transport.abort()
        # Dropped connections end their tasks.
        while self._writers:
            await asyncio.sleep(0.01)

    async def _joined(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self._is_cut:
            writer.transport.abort()
            return
        self._writers.add(writer)
        try:
            there, back = await asyncio.open_connection("127.0.0.1", self.to)
            self._writers.add(back)
            try:
                await asyncio.gather(
                    self._pump(reader, back, is_asked=True), self._pump(there, writer), return_exceptions=True
                )
            finally:
                back.transport.abort()
                self._writers.discard(back)
        except OSError:
            # The server is not running now.
            pass
        finally:
            writer.transport.abort()
            self._writers.discard(writer)

    async def _pump(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, *, is_asked: bool = False
    ) -> None:
        while data := await reader.read(65536):
            await self._flows.wait()
            if is_asked and data.startswith(self.blocked or (b"\0",)):
                break
            writer.write(data)
            await writer.drain()
        writer.transport.abort()
