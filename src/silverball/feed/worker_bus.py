"""Nudges between the workers of one machine, over a pipe for each of them.

A nudge is the number of a tournament, in eight bytes. The supervisor made the pipes, so a worker that takes
another's place goes on with its pipe. What does not fit into the pipe of a worker that is stopped is
dropped: it looks at every channel once a second anyway.
"""

import asyncio
import contextlib
import os
import struct
from collections.abc import Callable, Collection, Sequence

NUDGE = struct.Struct("<Q")
# Written in one piece, so that those of two workers never mix; the least that systems promise.
NUDGES_PER_WRITE = 512 // NUDGE.size
BYTES_PER_READ = 65_536


class WorkerBus:
    """The pipes as one worker has them."""

    def __init__(self, inbox: int, outboxes: Sequence[int]) -> None:
        """Take the open ends of pipes that do not block."""
        self._inbox = inbox
        self._outboxes = outboxes
        self._on_nudge: Callable[[Collection[int] | None], None] = lambda _ids: None
        self._loop: asyncio.AbstractEventLoop | None = None

    def start(self, on_nudge: Callable[[Collection[int] | None], None]) -> None:
        """Call back with the channels to check, or None for all of them."""
        self._on_nudge = on_nudge
        self._loop = asyncio.get_running_loop()
        self._loop.add_reader(self._inbox, self._receive)
        # What was sent before this moment was for the worker that had this pipe.
        on_nudge(None)

    def send_nudges(self, newest_seqs: dict[int, int]) -> None:
        """Nudge the other workers: tournament id -> its newest number."""
        numbers = list(newest_seqs)
        for start in range(0, len(numbers), NUDGES_PER_WRITE):
            nudges = b"".join(map(NUDGE.pack, numbers[start : start + NUDGES_PER_WRITE]))
            for outbox in self._outboxes:
                with contextlib.suppress(BlockingIOError, BrokenPipeError):
                    os.write(outbox, nudges)

    async def close(self) -> None:
        """Stop listening."""
        if self._loop is not None:
            self._loop.remove_reader(self._inbox)

    def _receive(self) -> None:
        with contextlib.suppress(BlockingIOError):
            nudges = os.read(self._inbox, BYTES_PER_READ)
            self._on_nudge({number for (number,) in NUDGE.iter_unpack(nudges)})
