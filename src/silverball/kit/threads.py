"""Threads that are all started at once, and that wait for tasks.

A pool starts its threads when they are needed, and by then the system may refuse another one. The request
that asked for it would fail, and its task would be left in the pool, to be run later or never.
"""

import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeAlias

Task: TypeAlias = Callable[[], None]


class ThreadStack:
    """Threads that wait for tasks; the one that became free last gets the next.

    A pool of Python wakes a second thread for each task, which finds nothing and competes for the
    interpreter with the first, and takes its threads in turns, so that each begins with cold caches.
    """

    def __init__(self, count: int, name: str) -> None:
        """Start the threads. Raises RuntimeError if the system gives no more of them."""
        self._lock = threading.Lock()
        self._idle: list[_StackedThread] = []
        self._tasks: deque[Task] = deque()
        self._is_closed = False
        self._threads: list[_StackedThread] = []
        try:
            for number in range(count):
                thread = _StackedThread(self, f"{name}_{number}")
                thread.start()
                self._threads.append(thread)
        except RuntimeError:
            self.close()
            raise

    def submit(self, task: Task) -> None:
        """Run a task, which raises nothing, in a thread. Raises RuntimeError after `close`."""
        with self._lock:
            if self._is_closed:
                raise RuntimeError("no tasks are taken any more")
            if not self._idle:
                self._tasks.append(task)
                return
            thread = self._idle.pop()
        thread.wake(task)

    def close(self) -> None:
        """Wait for the tasks that were submitted, then stop the threads."""
        with self._lock:
            self._is_closed = True
            idle, self._idle = self._idle, []
        for thread in idle:
            thread.wake(None)
        for thread in self._threads:
            thread.join()

    def next_task(self, thread: "_StackedThread") -> Task | None:
        """The task that waits longest; None when this thread has to wait until it is woken."""
        with self._lock:
            if self._tasks:
                return self._tasks.popleft()
            if self._is_closed:
                thread.wake(None)
            else:
                self._idle.append(thread)
            return None


class _StackedThread(threading.Thread):
    """A thread of a stack, and what wakes it."""

    def __init__(self, stack: ThreadStack, name: str) -> None:
        super().__init__(name=name, daemon=True)
        self._stack = stack
        # Held while there is nothing to do. A lock that another thread lets go is the cheapest call there is.
        self._gate = threading.Lock()
        self._gate.acquire()
        self._task: Task | None = None

    def wake(self, task: Task | None) -> None:
        """Give the waiting thread a task; None stops it."""
        self._task = task
        self._gate.release()

    def run(self) -> None:
        """Run tasks until the stack is closed."""
        while True:
            task = self._stack.next_task(self) or self._wait()
            if task is None:
                return
            task()
            # What it holds is let go while the thread waits.
            del task

    def _wait(self) -> Task | None:
        self._gate.acquire()
        task, self._task = self._task, None
        return task


def start_pool(count: int, name: str) -> ThreadPoolExecutor:
    """A pool whose threads run already, so that a task never has to start one.

    Raises RuntimeError if the system gives no more threads.
    """
    pool = ThreadPoolExecutor(count, thread_name_prefix=name)
    are_all_running = threading.Event()
    try:
        # As long as none is idle, each task gets a new thread.
        for _ in range(count):
            pool.submit(are_all_running.wait)
    finally:
        are_all_running.set()
    return pool


def is_refused_thread(error: Exception) -> bool:
    """Whether this error says that the system gives no more threads."""
    # Python has no class of its own for it.
    return isinstance(error, RuntimeError) and "start new thread" in str(error)
