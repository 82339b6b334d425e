"""Guessing of passwords is slowed down, for the guesser only."""

from datetime import datetime, timedelta

import pytest

import build
from silverball.web.sign_in_throttle import WAIT_SECONDS_MAX, SignInLimiter

HOME, VENUE = "198.51.100.1", "192.0.2.1"
ADA, BO = "ada@silverball.test", "bo@silverball.test"


def after(seconds: float) -> datetime:
    return build.NOW + timedelta(seconds=seconds)


@pytest.mark.parametrize(
    ("failures", "wait"), [(0, 0), (4, 0), (5, 1), (6, 2), (7, 4), (8, 8), (14, 512), (15, 900), (40, 900)]
)
def test_the_wait_doubles_from_the_fifth_failure_on(failures: int, wait: int) -> None:
    limiter, at = SignInLimiter(), 0.0
    for _ in range(failures):
        # Each failure comes as soon as it may.
        while seconds := limiter.seconds_to_wait(HOME, ADA, after(at)):
            at += seconds
    blocked = limiter.seconds_to_wait(HOME, ADA, after(at))
    assert blocked == wait


def test_an_attempt_that_has_to_wait_does_not_make_the_wait_longer() -> None:
    limiter = SignInLimiter()
    for _ in range(5):
        limiter.seconds_to_wait(HOME, ADA, after(0))
    for _ in range(100):
        assert limiter.seconds_to_wait(HOME, ADA, after(0)) == 1
    assert limiter.seconds_to_wait(HOME, ADA, after(1)) == 0


def test_a_success_forgets_the_failures_of_its_pair() -> None:
    limiter = SignInLimiter()
    for _ in range(4):
        assert limiter.seconds_to_wait(HOME, ADA, after(0)) == 0
    limiter.record_success(HOME, ADA)
    for _ in range(5):
        assert limiter.seconds_to_wait(HOME, ADA, after(1)) == 0


def test_failures_are_forgotten_after_an_hour() -> None:
    limiter = SignInLimiter()
    for _ in range(5):
        limiter.seconds_to_wait(HOME, ADA, after(0))
    assert limiter.seconds_to_wait(HOME, ADA, after(0)) > 0
    assert limiter.seconds_to_wait(HOME, ADA, after(3_601)) == 0


def test_a_guesser_who_tries_many_accounts_waits_longer_for_each() -> None:
    limiter = SignInLimiter()
    for n in range(200):
        limiter.seconds_to_wait(VENUE, f"{n}@silverball.test", after(0))
    assert limiter.seconds_to_wait(VENUE, "1@silverball.test", after(0)) > 30
    # Who has not failed does not wait.
    assert limiter.seconds_to_wait(VENUE, ADA, after(0)) == 0


def test_the_wait_has_an_end_however_many_fail() -> None:
    limiter = SignInLimiter()
    for n in range(5_000):
        limiter.seconds_to_wait(f"198.51.{n // 250}.{n % 250}", ADA, after(0))
    assert limiter.seconds_to_wait("198.51.0.1", ADA, after(0)) <= WAIT_SECONDS_MAX + 1
    assert limiter.seconds_to_wait(VENUE, ADA, after(0)) == 0
    assert limiter.seconds_to_wait(VENUE, BO, after(0)) == 0
