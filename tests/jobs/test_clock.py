"""The clock runs jobs, survives failures, and stops when it is closed."""

import logging
import threading
from datetime import datetime, timedelta

import pytest

import build
from silverball.jobs.clock import Job, JobClock
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
