"""A bounded queue in front of worker threads, which sheds load in order.

Under overload visitors are refused first, and scorekeepers last: the more requests wait, the more
important one must be to join them. A request is refused when it arrives or not at all, so a refusal is
never late; those that wait are served by importance, then in the order of their arrival.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from enum import IntEnum
from functools import partial
from types import MappingProxyType
from typing import Any, TypeVar

from silverball.kit.errors import ServiceUnavailable

T = TypeVar("T")
# Handed to the threads ahead, so that none of them waits for the event loop between two tasks.
AHEAD = 2


class Importance(IntEnum):
    """How late a request is refused when there are too many."""

    VISITOR = 0
    """A request without a valid token, or a page without a sign-in."""
    READER = 1
    """A read with a token, or a page whose cookie has not been checked yet."""
    WRITER = 2
    """A write with a token, or a page of a signed-in person."""
    SCOREKEEPER = 3
    """A request about a running tournament of the caller's own."""


# A request waits only if fewer than so many wait already.
WAITING_MAX: Mapping[Importance, int] = MappingProxyType(
    {
        Importance.VISITOR: 64,
        Importance.READER: 128,
        Importance.WRITER: 256,
        Importance.SCOREKEEPER: 1_024,
    }
)


class Overloaded(ServiceUnavailable):
    """Too many requests wait for a thread already."""

    sentence = "The server is busy. Try again in a moment."


class WorkQueue:
    """Threads, and the tasks that wait for them. Used by one event loop at a time."""

    def __init__(self, threads: int, name: str, waiting_max: Mapping[Importance, int] = WAITING_MAX) -> None:
        self._threads = ThreadPoolExecutor(threads, thread_name_prefix=name)
        self._free = threads + AHEAD
        self._waiting_max = waiting_max
        self._waiting_count = 0
        # The most important first.
        self._waiting: dict[Importance, deque[tuple[Callable[[], Any], asyncio.Future[Any]]]] = {
            importance: deque() for importance in sorted(Importance, reverse=True)
        }

    def admits(self, importance: Importance) -> bool:
        """Whether a task of this importance may start or wait now."""
        return self._free > 0 or self._waiting_count < self._waiting_max[importance]

    def submit(self, importance: Importance, task: Callable[..., T], *arguments: Any) -> asyncio.Future[T]:
        """The future result of a task, which runs in a thread. Raises Overloaded."""
        if not self.admits(importance):
            raise Overloaded
        result: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        call = partial(task, *arguments)
        if self._free > 0:
            self._start(call, result)
        else:
            self._waiting_count += 1
            self._waiting[importance].append((call, result))
        return result

    def close(self) -> None:
        """Wait for the tasks that have started, then stop the threads."""
        self._threads.shutdown()

    def _start(self, call: Callable[[], Any], result: asyncio.Future[Any]) -> None:
        self._free -= 1
        running = asyncio.get_running_loop().run_in_executor(self._threads, call)
        running.add_done_callback(partial(self._finish, result))

    def _finish(self, result: asyncio.Future[Any], finished: asyncio.Future[Any]) -> None:
        self._free += 1
        self._start_next()
        # The error is retrieved in any case, or Python would report it as lost.
        error = None if finished.cancelled() else finished.exception()
        if result.done():
            return
        if finished.cancelled():
            result.cancel()
        elif error is not None:
            result.set_exception(error)
        else:
            result.set_result(finished.result())

    def _start_next(self) -> None:
        for waiting in self._waiting.values():
            while waiting:
                call, result = waiting.popleft()
                self._waiting_count -= 1
                # Nobody waits for a cancelled one any more.
                if not result.cancelled():
                    self._start(call, result)
                    return
