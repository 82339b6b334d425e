"""Threads that wait for tasks, all of them from the start, and that a stop does not wait for in vain."""

import threading
from functools import partial

import pytest

from silverball.kit.threads import ThreadPool


def test_all_threads_run_from_the_start_and_stop_at_the_end() -> None:
    pool = ThreadPool(3, "early")
    names = {f"early_{number}" for number in range(3)}
    assert names <= {thread.name for thread in threading.enumerate()}
    pool.close()
    assert not names & {thread.name for thread in threading.enumerate()}


def test_tasks_that_come_together_run_side_by_side_and_the_rest_in_their_order() -> None:
    pool = ThreadPool(2, "side")
    both, gate, begun = threading.Barrier(3), threading.Event(), list[int]()

    def hold() -> None:
        both.wait(5)
        gate.wait(5)

    for _ in range(2):
        pool.submit(hold)
    both.wait(5)
    for number in range(50):
        pool.submit(partial(begun.append, number))
    assert begun == []
    gate.set()
    pool.close()
    assert sorted(begun) == list(range(50))


def test_closing_waits_for_what_was_submitted() -> None:
    pool, done = ThreadPool(1, "late"), list[int]()
    for number in range(5):
        pool.submit(partial(done.append, number))
    pool.close()
    assert done == [0, 1, 2, 3, 4]


def test_closing_ends_though_a_task_hangs() -> None:
    pool, gate, done = ThreadPool(2, "hung"), threading.Event(), list[str]()

    def hang() -> None:
        gate.wait(60)
        done.append("hung")

    pool.submit(hang)
    pool.submit(partial(done.append, "quick"))
    pool.close(0.05)
    assert "hung" not in done
    gate.set()


def test_a_closed_pool_takes_nothing() -> None:
    pool = ThreadPool(2, "closed")
    pool.close()
    with pytest.raises(RuntimeError, match="taken"):
        pool.submit(lambda: None)


def test_no_task_is_lost_or_run_twice_while_many_submit() -> None:
    pool, lock, counts = ThreadPool(4, "many"), threading.Lock(), [0] * 4_000

    def count(number: int) -> None:
        with lock:
            counts[number] += 1

    def submit(start: int) -> None:
        for number in range(start, 4_000, 8):
            pool.submit(partial(count, number))

    submitters = [threading.Thread(target=submit, args=(start,)) for start in range(8)]
    for submitter in submitters:
        submitter.start()
    for submitter in submitters:
        submitter.join()
    pool.close()
    assert counts == [1] * 4_000
