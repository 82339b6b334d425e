"""The clock runs jobs, survives failures, and stops when it is closed."""

import logging
import threading
from datetime import datetime, timedelta

import pytest

import build
from silverball.jobs.clock import SETTLING_SECONDS, Job, JobClock
from silverball.store.database.engine import Store

SECONDS_MAX = 60.0


def test_every_job_runs_even_when_one_before_it_fails(store: Store, caplog: pytest.LogCaptureFixture) -> None:
    ran: list[tuple[str, datetime]] = []

    def fails(_store: Store, _now: datetime) -> None:
        raise RuntimeError("out of balls")

    def works(_store: Store, now: datetime) -> None:
        ran.append(("works", now))

    moment = build.NOW + timedelta(microseconds=5)
    clock = JobClock(store, [Job("fails", fails), Job("works", works)], now=lambda: moment)
    with caplog.at_level(logging.ERROR, logger="silverball.jobs"):
        clock.run_all()
    assert ran == [("works", build.NOW)]
    assert "the job fails failed" in caplog.text


def test_jobs_run_again_and_again_until_it_is_closed(store: Store) -> None:
    thrice = threading.Event()
    count = 0

    def work(_store: Store, _now: datetime) -> None:
        nonlocal count
        count += 1
        if count == 3:
            thrice.set()

    clock = JobClock(store, [Job("work", work)], first_after_seconds=0.001, every_seconds=0.001)
    clock.start()
    assert thrice.wait(SECONDS_MAX)
    clock.close()
    stopped_at = count
    clock.run_all()
    assert count == stopped_at


def test_nothing_runs_at_once(store: Store) -> None:
    ran: list[datetime] = []
    clock = JobClock(store, [Job("work", lambda _store, now: ran.append(now))])
    clock.start()
    clock.close()
    assert ran == []


@pytest.mark.parametrize("jump", [timedelta(days=400), timedelta(hours=-1), timedelta(seconds=61)])
def test_nothing_runs_for_ten_minutes_after_the_clock_was_set(store: Store, jump: timedelta) -> None:
    ran: list[datetime] = []
    seconds, offset = 0.0, timedelta()

    def wall() -> datetime:
        return build.NOW + timedelta(seconds=seconds) + offset

    job = Job("work", lambda _store, now: ran.append(now))
    clock = JobClock(store, [job, job], now=wall, monotonic=lambda: seconds)
    seconds += 3_600
    clock.run_all()
    assert len(ran) == 2
    offset = jump
    for _ in range(2):
        clock.run_all()
        assert len(ran) == 2
        seconds += SETTLING_SECONDS - 1
    seconds -= SETTLING_SECONDS - 2
    clock.run_all()
    assert ran[2:] == [wall(), wall()]


def test_a_clock_that_is_corrected_a_little_delays_no_job(store: Store) -> None:
    ran: list[datetime] = []
    offset = timedelta()
    clock = JobClock(
        store,
        [Job("work", lambda _store, now: ran.append(now))],
        now=lambda: build.NOW + offset,
        monotonic=lambda: 0.0,
    )
    for correction in (59, -59):
        offset = timedelta(seconds=correction)
        clock.run_all()
    assert len(ran) == 2
