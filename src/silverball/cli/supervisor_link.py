"""The link from a worker to its supervisor: a place among the others, and a socket to speak over."""

import asyncio
import contextlib
import os
import socket
from typing import Protocol

import msgspec

from silverball.feed.worker_bus import WorkerBus

READY = b"ready"
METRICS = b"metrics"
STREAM_BYTES_MAX = 16_000_000
# What the supervisor asks for; nothing more means that it has ended.
ASK_METRICS = b"m"


class WorkerPlace(msgspec.Struct, frozen=True, rename="camel"):
    """The place of one worker: numbers of inherited files, and what all workers share."""

    # Its column of the shared cells.
    column: int
    host: str
    is_first: bool
    listener: int
    cells: int
    # The ends of the pipes for nudges: where the own ones arrive, and those of the others.
    inbox: int
    outboxes: list[int]


class Stoppable(Protocol):
    """A server that can be asked to stop."""

    should_exit: bool


class Exposing(Protocol):
    """A part of the program with metrics."""

    async def expose(self) -> bytes:
        """All of them as text."""


class SupervisorLink:
    """The worker's end of the socket, and its pipes."""

    def __init__(self, place: WorkerPlace, control: int) -> None:
        """`control`: the open socket of the supervisor."""
        for number in (place.inbox, *place.outboxes):
            os.set_blocking(number, False)
        self.bus = WorkerBus(place.inbox, place.outboxes)
        self.is_first = place.is_first
        self._socket = socket.socket(fileno=control)
        self._server: Stoppable | None = None
        self._site: Exposing | None = None
        self._task: asyncio.Task[None] | None = None

    def attach(self, server: Stoppable, site: Exposing) -> None:
        """Name what is stopped with the supervisor, and whose metrics it gets."""
        self._server, self._site = server, site

    def begin(self) -> None:
        """Tell the supervisor that this worker serves, and answer it from now on."""
        self._task = asyncio.get_running_loop().create_task(self._answer())

    async def _answer(self) -> None:
        assert self._server is not None
        reader, writer = await asyncio.open_unix_connection(sock=self._socket, limit=STREAM_BYTES_MAX)
        writer.write(encode_frame(READY, b""))
        with contextlib.suppress(OSError):
            while await reader.read(1):
                await self._send_metrics(writer)
        # Whoever has no supervisor would go on unseen, beside the workers of the next one.
        self._server.should_exit = True

    async def _send_metrics(self, writer: asyncio.StreamWriter) -> None:
        assert self._site is not None
        writer.write(encode_frame(METRICS, await self._site.expose()))
        await writer.drain()


def encode_frame(kind: bytes, content: bytes) -> bytes:
    """A message to the supervisor: its kind and length in a line, then the content."""
    return b"%s %d\n%s" % (kind, len(content), content)


async def read_frame(reader: asyncio.StreamReader) -> tuple[bytes, bytes]:
    """The next message. Raises IncompleteReadError when the worker has ended."""
    kind, _, length = (await reader.readuntil(b"\n")).strip().partition(b" ")
    return kind, await reader.readexactly(int(length))
