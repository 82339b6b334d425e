"""One worker as its supervisor sees it: a process, its column, and the socket to it."""

import asyncio
import contextlib
import os
import signal
import socket

from silverball.cli.supervisor_link import ASK_METRICS, METRICS, READY, STREAM_BYTES_MAX, read_frame

# A worker that is stopped or overloaded is left out of a scrape; what it said last counts.
METRICS_SECONDS_MAX = 1.0


class WorkerProcess:
    """A process from its start to its end."""

    def __init__(self, process_id: int, column: int, control: socket.socket) -> None:
        """`control`: the supervisor's end of the socket."""
        self.process_id = process_id
        self.column = column
        self.is_ready = False
        # Whether it was asked to end.
        self.is_leaving = False
        # The code that it has ended with; None while it runs.
        self.exit_code: int | None = None
        self.metrics = ""
        self._changed = asyncio.Event()
        self._writer: asyncio.StreamWriter | None = None
        self._listening = asyncio.get_running_loop().create_task(self._listen(control))

    def note_end(self, code: int) -> None:
        """Note that the process has ended."""
        self.exit_code = code
        self._changed.set()

    async def wait_until_ready(self) -> bool:
        """Wait until it serves; False when it has ended instead."""
        while not self.is_ready and self.exit_code is None:
            self._changed.clear()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(0.1):
                    await self._changed.wait()
        return self.is_ready

    async def ask_metrics(self) -> None:
        """Ask for its metrics, and wait a moment for them."""
        if self._writer is None or self._writer.is_closing():
            return
        self._changed.clear()
        with contextlib.suppress(OSError, TimeoutError):
            async with asyncio.timeout(METRICS_SECONDS_MAX):
                self._writer.write(ASK_METRICS)
                await self._changed.wait()

    def terminate(self) -> None:
        """Ask it to finish its requests and end."""
        self.is_leaving = True
        self._signal(signal.SIGTERM)

    def kill(self) -> None:
        """End it at once."""
        self._signal(signal.SIGKILL)

    async def close(self) -> None:
        """Wait until everything that it has sent is read. Called after its end."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(METRICS_SECONDS_MAX):
                await self._listening
        self._listening.cancel()

    def _signal(self, number: signal.Signals) -> None:
        if self.exit_code is None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.process_id, number)

    async def _listen(self, control: socket.socket) -> None:
        reader, self._writer = await asyncio.open_unix_connection(sock=control, limit=STREAM_BYTES_MAX)
        try:
            while True:
                kind, content = await read_frame(reader)
                self.is_ready |= kind == READY
                if kind == METRICS:
                    self.metrics = content.decode()
                self._changed.set()
        except (OSError, asyncio.IncompleteReadError):
            self._changed.set()
        finally:
            self._writer.close()
