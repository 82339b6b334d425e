"""Threads that wait for tasks: all of them from the start, and the one that is warm first."""

import threading
import time
from functools import partial

import pytest

from silverball.kit.threads import ThreadStack


def _names_of(stack: ThreadStack, tasks: int) -> list[str]:
    """The threads that ran so many tasks, one after the other."""
    names: list[str] = []
    for _ in range(tasks):
        done = threading.Event()

        def note(done: threading.Event = done) -> None:
            names.append(threading.current_thread().name)
            done.set()

        stack.submit(note)
        assert done.wait(60)
        # Until it waits again.
        time.sleep(0.005)
    return names


def test_all_threads_run_from_the_start_and_stop_at_the_end() -> None:
    stack = ThreadStack(3, "early")
    names = {f"early_{number}" for number in range(3)}
    assert names <= {thread.name for thread in threading.enumerate()}
    stack.close()
    assert not names & {thread.name for thread in threading.enumerate()}


def test_tasks_that_come_alone_run_in_one_thread() -> None:
    stack = ThreadStack(4, "warm")
    assert len(set(_names_of(stack, 20))) == 1
    stack.close()


def test_tasks_that_come_together_run_side_by_side_and_the_rest_in_their_order() -> None:
    stack = ThreadStack(2, "side")
    both, gate, begun = threading.Barrier(3), threading.Event(), list[int]()

    def hold() -> None:
        both.wait(60)
        gate.wait(60)

    for _ in range(2):
        stack.submit(hold)
    both.wait(60)
    for number in range(50):
        stack.submit(partial(begun.append, number))
    assert begun == []
    gate.set()
    stack.close()
    assert sorted(begun) == list(range(50))


def test_closing_waits_for_what_was_submitted() -> None:
    stack, done = ThreadStack(1, "late"), list[int]()

    def finish(number: int) -> None:
        time.sleep(0.01)
        done.append(number)

    for number in range(5):
        stack.submit(partial(finish, number))
    stack.close()
    assert done == [0, 1, 2, 3, 4]


def test_a_closed_stack_takes_nothing() -> None:
    stack = ThreadStack(2, "closed")
    stack.close()
    with pytest.raises(RuntimeError, match="taken"):
        stack.submit(lambda: None)


def test_no_task_is_lost_or_run_twice_while_many_submit() -> None:
    stack, lock, counts = ThreadStack(4, "many"), threading.Lock(), [0] * 4_000

    def count(number: int) -> None:
        with lock:
            counts[number] += 1

    def submit(start: int) -> None:
        for number in range(start, 4_000, 8):
            stack.submit(partial(count, number))

    submitters = [threading.Thread(target=submit, args=(start,)) for start in range(8)]
    for submitter in submitters:
        submitter.start()
    for submitter in submitters:
        submitter.join()
    stack.close()
    assert counts == [1] * 4_000
