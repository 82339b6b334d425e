"""A bounded queue in front of worker threads, which sheds load in order.

Under overload visitors are refused first, and scorekeepers last: the more requests wait, the more
important one must be to join them. A request is refused when it arrives, or when it has waited so long
that its client may have left; those that wait are served by importance, then in the order of their
arrival. Tasks of one scope (a tournament's writes, which wait for one lock) use a few threads only, so
that they never hold up the others.
"""

import asyncio
import contextlib
import time
from collections import deque
from collections.abc import Callable, Mapping
from enum import IntEnum
from functools import partial
from types import MappingProxyType
from typing import Any, TypeVar

from msgspec import Struct

from silverball.kit.errors import ServiceUnavailable
from silverball.kit.threads import ThreadPool, early_answers

T = TypeVar("T")
# Handed to the threads ahead, so that none of them waits for the event loop between two tasks.
AHEAD = 2
# What waited longer, because the threads hang at the database, is refused instead of begun.
WAITING_SECONDS_MAX = 4.0
# Where tasks of a scope wait for the same lock, more threads would wait in vain.
THREADS_PER_LOCK = 2


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


class _WaitingTask(Struct, frozen=True):
    call: Callable[[], Any]
    result: asyncio.Future[Any]
    scope_id: int
    since: float


class WorkQueue:
    """Threads, and the tasks that wait for them. Used by one event loop at a time."""

    def __init__(
        self,
        threads: int,
        name: str,
        waiting_max: Mapping[Importance, int] = WAITING_MAX,
        *,
        threads_per_scope: int | None = None,
    ) -> None:
        self._threads_per_scope = threads_per_scope
        # Scope -> its tasks in threads.
        self._running: dict[int, int] = {}
        self._threads = ThreadPool(threads, name)
        self._free = threads + AHEAD
        self._waiting_max = waiting_max
        self._waiting_count = 0
        # The most important first.
        self._waiting: dict[Importance, deque[_WaitingTask]] = {
            importance: deque() for importance in sorted(Importance, reverse=True)
        }

    def admits(self, importance: Importance) -> bool:
        """Whether a task of this importance may start or wait now."""
        return self._free > 0 or self._waiting_count < self._waiting_max[importance]

    def submit(
        self, importance: Importance, task: Callable[..., T], *arguments: Any, scope_id: int = 0
    ) -> asyncio.Future[T]:
        """The future result of a task, which runs in a thread. Raises Overloaded, at once or in the result.

        Tasks of a scope other than 0 share few threads.
        """
        if not self.admits(importance):
            raise Overloaded
        result: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        call = partial(task, *arguments)
        waiting = _WaitingTask(call, result, scope_id, time.monotonic())
        if self._free > 0 and self._has_room(scope_id):
            self._start(waiting)
        else:
            self._waiting_count += 1
            self._waiting[importance].append(waiting)
        return result

    @property
    def waiting(self) -> int:
        """The tasks that wait for a thread."""
        return self._waiting_count

    def close(self) -> None:
        """Wait for the tasks that have started, unless one hangs, then stop the threads."""
        self._threads.close()

    def _has_room(self, scope_id: int) -> bool:
        if not scope_id or self._threads_per_scope is None:
            return True
        return self._running.get(scope_id, 0) < self._threads_per_scope

    def _start(self, task: _WaitingTask) -> None:
        self._free -= 1
        if task.scope_id:
            self._running[task.scope_id] = self._running.get(task.scope_id, 0) + 1
        self._threads.submit(partial(self._run, task, asyncio.get_running_loop()))

    def _run(self, task: _WaitingTask, loop: asyncio.AbstractEventLoop) -> None:
        """Run the task in a thread, and hand its result to the loop in one step."""
        value, error = None, None
        try:
            with early_answers(partial(self._answer_early, task, loop)):
                value = task.call()
        except BaseException as raised:  # noqa: BLE001  # whoever waits for the result gets the error
            error = raised
        try:
            loop.call_soon_threadsafe(self._finish, task, value, error)
        except RuntimeError:
            # A loop that has ended has nobody who waits.
            return

    def _answer_early(self, task: _WaitingTask, loop: asyncio.AbstractEventLoop, error: Exception) -> None:
        """Give whoever waits this error, while the task goes on in its thread."""
        with contextlib.suppress(RuntimeError):
            loop.call_soon_threadsafe(_set_exception, task.result, error)

    def _finish(self, task: _WaitingTask, value: Any, error: BaseException | None) -> None:
        self._free += 1
        if task.scope_id:
            remaining = self._running.pop(task.scope_id) - 1
            if remaining:
                self._running[task.scope_id] = remaining
        if self._waiting_count:
            self._start_next()
        if task.result.done():
            return
        if error is None:
            task.result.set_result(value)
        else:
            task.result.set_exception(error)

    def _start_next(self) -> None:
        """Start the first task that may start, and let go of those in which nobody is interested any more."""
        late = time.monotonic() - WAITING_SECONDS_MAX
        for waiting in self._waiting.values():
            kept: deque[_WaitingTask] = deque()
            while waiting:
                task = waiting.popleft()
                if not task.result.cancelled() and task.since < late:
                    task.result.set_exception(Overloaded())
                elif not task.result.cancelled() and self._has_room(task.scope_id):
                    self._waiting_count -= 1
                    waiting.extendleft(reversed(kept))
                    self._start(task)
                    return
                elif not task.result.cancelled():
                    kept.append(task)
                    continue
                self._waiting_count -= 1
            waiting.extend(kept)


def _set_exception(result: asyncio.Future[Any], error: Exception) -> None:
    if not result.done():
        result.set_exception(error)
