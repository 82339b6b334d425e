"""Tasks end when the program stops, whatever becomes of the first cancellation."""

import asyncio

from silverball.kit.tasks import end_tasks


def test_a_task_that_misses_its_cancellation_is_cancelled_again() -> None:
    async def program() -> tuple[bool, bool]:
        answer = asyncio.get_running_loop().create_future()

        async def work() -> None:
            # Answer and cancellation come in one step, as when a server stops while it reports.
            await asyncio.wait_for(answer, 10)
            await asyncio.Event().wait()

        task = asyncio.create_task(work())
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        answer.set_result(None)
        async with asyncio.timeout(10):
            await end_tasks([task])
        return task.done(), task.cancelled()

    assert asyncio.run(program()) == (True, True)


def test_tasks_that_have_ended_or_fail_are_no_obstacle() -> None:
    async def program() -> list[bool]:
        async def fail() -> None:
            try:
                await asyncio.Event().wait()
            finally:
                raise OSError("lost")

        async def end() -> None:
            return

        tasks = [asyncio.create_task(fail()), asyncio.create_task(end())]
        await asyncio.sleep(0)
        await end_tasks(tasks)
        return [isinstance(task.exception(), OSError) for task in tasks]

    assert asyncio.run(program()) == [True, False]
