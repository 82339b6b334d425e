"""Nudges sent over the pipes of several workers, all of them in this process."""

import asyncio
import os
from collections.abc import Callable, Collection, Mapping

from silverball.feed.worker_bus import WorkerBus


async def nudged_over_pipes(workers: int, nudges: Mapping[int, int]) -> list[set[int]]:
    """Send nudges from the first worker; returns what each of them received."""
    pipes = [os.pipe() for _ in range(workers)]
    for number in (number for pipe in pipes for number in pipe):
        os.set_blocking(number, False)
    buses = [WorkerBus(pipe[0], [other[1] for other in pipes if other is not pipe]) for pipe in pipes]
    received: list[set[int]] = [set() for _ in pipes]

    def noting(worker: int) -> Callable[[Collection[int] | None], None]:
        return lambda numbers: received[worker].update(numbers or ())

    for worker, bus in enumerate(buses):
        bus.start(noting(worker))
    buses[0].send_nudges(dict(nudges))
    # The second is served in the turn in which the first finds nothing more to read.
    previous = -1
    while previous != sum(map(len, received)) or not previous:
        previous = sum(map(len, received))
        await asyncio.sleep(0.02)
    for bus, pipe in zip(buses, pipes, strict=True):
        await bus.close()
        for number in pipe:
            os.close(number)
    return received
