"""Threads that are all started at once, and that wait for tasks.

A pool of Python starts its threads when they are needed, and by then the system may refuse another one; and
it keeps the process alive as long as one of them hangs.
"""

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from queue import SimpleQueue
from threading import Thread, local
from typing import TypeAlias

Task: TypeAlias = Callable[[], None]
# What a stop waits for tasks in progress. Their transactions are ended within this time.
STOP_SECONDS = 10.0

# Takes the error that a task's waiting client gets before the task has ended.
AnswerEarly: TypeAlias = Callable[[Exception], None]
_TASK = local()


@contextmanager
def early_answers(answer: AnswerEarly) -> Iterator[None]:
    """A block of this thread whose client can be answered from another one, when the block hangs."""
    _TASK.answer = answer
    try:
        yield
    finally:
        _TASK.answer = None


def early_answer() -> AnswerEarly | None:
    """The function that answers this thread's client early; None where nobody waits."""
    return getattr(_TASK, "answer", None)


class ThreadPool:
    """Threads that take tasks from one queue."""

    def __init__(self, count: int, name: str) -> None:
        """Start the threads. Raises RuntimeError if the system gives no more of them."""
        self._tasks: SimpleQueue[Task | None] = SimpleQueue()
        self._is_closed = False
        self._threads: list[Thread] = []
        try:
            for number in range(count):
                thread = Thread(target=self._run, name=f"{name}_{number}", daemon=True)
                thread.start()
                self._threads.append(thread)
        except RuntimeError:
            self.close()
            raise

    def submit(self, task: Task) -> None:
        """Run a task, which raises nothing, in a thread. Raises RuntimeError after `close`."""
        if self._is_closed:
            raise RuntimeError("no tasks are taken any more")
        self._tasks.put(task)

    def close(self, seconds: float = STOP_SECONDS) -> None:
        """Stop the threads after the tasks that were submitted, so many seconds from now at most."""
        self._is_closed = True
        for _ in self._threads:
            self._tasks.put(None)
        join_within(self._threads, seconds)

    def _run(self) -> None:
        while (task := self._tasks.get()) is not None:
            task()
            # What it holds is let go while the thread waits.
            del task


def join_within(threads: Iterable[Thread], seconds: float) -> None:
    """Wait for threads to end, so many seconds together; those that hang end with the process."""
    ends_at = time.monotonic() + seconds
    for thread in threads:
        thread.join(max(0.0, ends_at - time.monotonic()))


def is_refused_thread(error: Exception) -> bool:
    """Whether this error says that the system gives no more threads."""
    # Python has no class of its own for it.
    return isinstance(error, RuntimeError) and "start new thread" in str(error)
