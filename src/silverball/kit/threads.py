"""Pools of threads that are all started at once.

A pool starts its threads when they are needed, and by then the system may refuse another one. The request
that asked for it would fail, and its task would be left in the pool, to be run later or never.
"""

import threading
from concurrent.futures import ThreadPoolExecutor


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
