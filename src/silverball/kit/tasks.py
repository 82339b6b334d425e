"""Tasks of an event loop that work until the program stops."""

import asyncio
from collections.abc import Iterable
from typing import Any

CANCEL_AGAIN_SECONDS = 0.2


async def end_tasks(tasks: Iterable[asyncio.Task[Any]]) -> None:
    """Cancel the tasks and wait until all of them have ended; what they raise is left in them.

    In Python 3.11 `asyncio.wait_for`, which libraries use too, forgets a cancellation that comes in the
    moment in which its result is there. The task would work on, so it is cancelled again until it ends.
    """
    working = {task for task in tasks if not task.done()}
    while working:
        for task in working:
            task.cancel()
        _, working = await asyncio.wait(working, timeout=CANCEL_AGAIN_SECONDS)
