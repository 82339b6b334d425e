"""The jobs run in the process that has their lock."""

import threading

from silverball.jobs.elected import ElectedJobs


class HeldLock:
    """A lock that another process holds until it is freed."""

    def __init__(self) -> None:
        self.is_free = False
        self.tries = threading.Semaphore(0)
        self.given_back = 0

    def take(self) -> bool:
        self.tries.release()
        return self.is_free

    def give_back(self) -> None:
        self.given_back += 1


def test_jobs_start_when_the_lock_is_free_and_it_is_given_back_at_the_end() -> None:
    lock, has_started = HeldLock(), threading.Event()
    jobs = ElectedJobs([has_started.set], try_lock=lock.take, unlock=lock.give_back, try_seconds=0.01)
    jobs.start()
    for _ in range(3):
        lock.tries.acquire()
    assert not has_started.is_set()
    lock.is_free = True
    has_started.wait()
    jobs.end_waiting()
    jobs.close()
    assert jobs.is_elected
    assert lock.given_back == 1


def test_a_process_that_never_got_the_lock_starts_no_job_and_gives_nothing_back() -> None:
    lock, started = HeldLock(), list[int]()
    jobs = ElectedJobs(
        [lambda: started.append(1)], try_lock=lock.take, unlock=lock.give_back, try_seconds=0.01
    )
    jobs.start()
    lock.tries.acquire()
    jobs.end_waiting()
    jobs.close()
    assert started == []
    assert lock.given_back == 0
