"""Where workers come from: a process that has loaded the program once and forks.

A worker that takes a dead one's place serves a moment later, and all of them share the memory of what is
loaded. The nursery has no threads, no event loop and no database, so there is nothing that a fork could
break. It ends with its supervisor.
"""

import asyncio
import gc
import json
import os
import select
import signal
import socket
import sys
from collections.abc import Callable
from typing import NoReturn

import msgspec

from silverball.cli.supervisor_link import WorkerPlace

REQUEST_BYTES_MAX = 65_536
REAP_SECONDS = 0.1
# A process that could not be started: what a shell says of one that cannot be run.
NOT_RUN = 126


class Nursery:
    """The supervisor's end. Make it before the event loop, and open it there."""

    def __init__(self) -> None:
        self._socket, theirs = socket.socketpair()
        if os.fork() == 0:
            self._socket.close()
            run_nursery(theirs)
        theirs.close()
        self._asking = asyncio.Lock()
        self._started: asyncio.Future[int] | None = None
        # Process id -> called with the exit code.
        self._on_end: dict[int, Callable[[int], None]] = {}
        # Processes that ended before anybody asked about them.
        self._ended: dict[int, int] = {}
        self._listening: asyncio.Task[None] | None = None
        self.is_lost = False

    def open(self) -> None:
        """Listen from now on. Called on the event loop."""
        self._listening = asyncio.get_running_loop().create_task(self._listen())

    async def start_worker(self, place: WorkerPlace, control: socket.socket) -> int:
        """Start a worker that inherits `control`; returns its process id. Raises OSError."""
        async with self._asking:
            self._started = asyncio.get_running_loop().create_future()
            socket.send_fds(self._socket, [msgspec.json.encode(place)], [control.fileno()])
            return await self._started

    def call_at_end(self, process: int, on_end: Callable[[int], None]) -> None:
        """Call with the exit code when this worker has ended."""
        if process in self._ended:
            on_end(self._ended.pop(process))
        else:
            self._on_end[process] = on_end

    def close(self) -> None:
        """Let the nursery end."""
        if self._listening is not None:
            self._listening.cancel()
        self._socket.close()

    async def _listen(self) -> None:
        reader, writer = await asyncio.open_unix_connection(sock=self._socket.dup())
        try:
            while line := await reader.readline():
                kind, process, code = json.loads(line)
                if kind == "started" and self._started is not None:
                    self._started.set_result(process)
                elif process in self._on_end:
                    self._on_end.pop(process)(code)
                else:
                    self._ended[process] = code
        finally:
            self.is_lost = True
            if self._started is not None and not self._started.done():
                self._started.set_exception(OSError("the nursery has ended"))
            writer.close()


def run_nursery(asked: socket.socket) -> NoReturn:
    """Fork a worker for each request, and say how each one ended, until the supervisor has ended."""
    # The supervisor decides who stops, a terminal that is interrupted or closed does not.
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    # Loaded once, for all workers; a single process loads the pages when somebody asks for one.
    from silverball.cli import server, worker  # noqa: F401
    from silverball.web import app  # noqa: F401
    from silverball.web.live import pages  # noqa: F401

    # What is loaded lives on in all of them, so no collector need write to its memory.
    gc.collect()
    gc.freeze()
    while True:
        readable, _, _ = select.select([asked], [], [], REAP_SECONDS)
        _report_ended(asked)
        if readable:
            request, descriptors, _, _ = socket.recv_fds(asked, REQUEST_BYTES_MAX, 1)
            if not request:
                os._exit(0)
            process = os.fork()
            if process == 0:
                asked.close()
                _run_worker(request, descriptors[0])
            os.close(descriptors[0])
            _say(asked, "started", process, 0)


def _report_ended(asked: socket.socket) -> None:
    while True:
        try:
            process, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if not process:
            return
        _say(asked, "ended", process, os.waitstatus_to_exitcode(status))


def _say(asked: socket.socket, kind: str, process: int, code: int) -> None:
    try:
        asked.sendall(json.dumps([kind, process, code]).encode() + b"\n")
    except OSError:
        # Nobody listens any more; workers notice that for themselves.
        os._exit(0)


def _run_worker(request: bytes, control: int) -> NoReturn:
    from silverball.cli import worker

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)
    code: object = NOT_RUN
    try:
        worker.worker(args=[request.decode(), str(control)], prog_name="silverball")
    except SystemExit as ended:
        code = ended.code
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code if isinstance(code, int) else 0 if code is None else 1)
