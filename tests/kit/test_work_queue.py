"""The queue in front of the worker threads: visitors are refused first, scorekeepers last."""

import asyncio
import threading
from collections.abc import Awaitable, Callable

import pytest

from silverball.kit.edge import work_queue
from silverball.kit.edge.work_queue import AHEAD, Importance, Overloaded, WorkQueue

VISITOR, READER, WRITER, SCOREKEEPER = sorted(Importance)
SMALL = {VISITOR: 1, READER: 2, WRITER: 3, SCOREKEEPER: 4}


class BusyQueue:
    """A queue whose only thread is busy until it is released, and the order in which tasks ran."""

    def __init__(self) -> None:
        self.queue = WorkQueue(1, "test", SMALL)
        self.released = threading.Event()
        self.ran: list[str] = []
        self.results = [self.queue.submit(VISITOR, self.released.wait, 10) for _ in range(1 + AHEAD)]

    def submit(self, importance: Importance, name: str) -> None:
        self.results.append(self.queue.submit(importance, self._run, name))

    def _run(self, name: str) -> bool:
        self.ran.append(name)
        return True

    async def finish(self) -> None:
        self.released.set()
        assert all(await asyncio.gather(*self.results))
        self.queue.close()


def _run(scenario: Callable[[], Awaitable[None]]) -> None:
    async def bounded() -> None:
        async with asyncio.timeout(10):
            await scenario()

    asyncio.run(bounded())


def test_the_less_important_a_request_the_earlier_it_is_refused() -> None:
    async def scenario() -> None:
        busy = BusyQueue()
        for importance in Importance:
            busy.submit(importance, importance.name)
            assert not busy.queue.admits(importance)
            with pytest.raises(Overloaded):
                busy.submit(importance, "refused")
            assert all(busy.queue.admits(other) for other in Importance if other > importance)
        await busy.finish()
        assert busy.ran == ["SCOREKEEPER", "WRITER", "READER", "VISITOR"]
        assert all(busy.queue.admits(importance) for importance in Importance)

    _run(scenario)


def test_equally_important_requests_are_served_in_the_order_of_their_arrival() -> None:
    async def scenario() -> None:
        busy = BusyQueue()
        for number in range(3):
            busy.submit(WRITER, str(number))
        await busy.finish()
        assert busy.ran == ["0", "1", "2"]

    _run(scenario)


def test_a_request_that_nobody_waits_for_is_not_served() -> None:
    async def scenario() -> None:
        busy = BusyQueue()
        busy.submit(WRITER, "gone")
        busy.submit(WRITER, "here")
        assert busy.results.pop(-2).cancel()
        await busy.finish()
        assert busy.ran == ["here"]

    _run(scenario)


def test_tasks_of_one_scope_leave_threads_to_the_others() -> None:
    async def scenario() -> None:
        queue = WorkQueue(4, "test", threads_per_scope=2)
        is_released = threading.Event()
        held = [queue.submit(WRITER, is_released.wait, 120, scope_id=7) for _ in range(50)]
        assert await asyncio.wait_for(queue.submit(WRITER, lambda: "other", scope_id=8), 60) == "other"
        assert await asyncio.wait_for(queue.submit(VISITOR, lambda: "none"), 60) == "none"
        is_released.set()
        assert all(await asyncio.gather(*held))
        queue.close()

    _run(scenario)


def test_a_task_that_waited_too_long_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(work_queue, "WAITING_SECONDS_MAX", 0.05)

    async def scenario() -> None:
        busy = BusyQueue()
        busy.submit(SCOREKEEPER, "late")
        await asyncio.sleep(0.1)
        busy.released.set()
        with pytest.raises(Overloaded):
            await busy.results.pop()
        await busy.finish()
        assert busy.ran == []

    _run(scenario)


def test_an_error_reaches_whoever_waits_and_frees_the_thread() -> None:
    async def scenario() -> None:
        queue = WorkQueue(1, "test", SMALL)
        for _ in range(10):
            with pytest.raises(ZeroDivisionError):
                await queue.submit(VISITOR, lambda: 1 // 0)
        assert await queue.submit(VISITOR, lambda: 7) == 7
        queue.close()

    _run(scenario)
