"""Messages to the service manager (sd_notify): the server is ready, lives, or stops.

The manager ends a server whose event loop stands still, or whose threads for writes do not come back. A
database that is locked, full, read-only, damaged or gone is an answer: a restart would not mend it.
"""

import asyncio
import contextlib
import socket
import time
from collections.abc import Awaitable, Callable

# How often a thread for writes is asked, and how long its answer counts.
ASK_SECONDS, ANSWER_SECONDS = 5.0, 20.0


class ServiceManager:
    """The socket of the program that has started this one; without an address nothing is sent."""

    def __init__(self, address: str) -> None:
        self._address = f"\0{address[1:]}" if address.startswith("@") else address

    def notify(self, message: str) -> None:
        """Send a message, unless the manager does not listen."""
        if not self._address:
            return
        with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender:
            sender.setblocking(False)
            sender.sendto(message.encode(), self._address)


class Watchdog:
    """Tells the manager that the server lives, as long as a thread for writes answers."""

    def __init__(
        self,
        manager: ServiceManager,
        ask: Callable[[], Awaitable[object]],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`ask` has a thread for writes try the database; whatever it raises is an answer."""
        self._manager = manager
        self._ask = ask
        self._clock = clock
        self._answered_at = clock()
        self._asked_at = float("-inf")
        self._asking: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Say that the server is ready."""
        self._answered_at = self._clock()
        self._manager.notify("READY=1")

    def tick(self) -> None:
        """Say that the server lives. Called on the event loop, once a second."""
        now = self._clock()
        if (self._asking is None or self._asking.done()) and now >= self._asked_at + ASK_SECONDS:
            self._asked_at = now
            self._asking = asyncio.get_running_loop().create_task(self._await_answer())
        if now < self._answered_at + ANSWER_SECONDS:
            self._manager.notify("WATCHDOG=1")

    def stop(self) -> None:
        """Say that the server stops, and ask no more."""
        self._manager.notify("STOPPING=1")
        if self._asking is not None:
            self._asking.cancel()

    async def _await_answer(self) -> None:
        with contextlib.suppress(Exception):
            await self._ask()
        self._answered_at = self._clock()
