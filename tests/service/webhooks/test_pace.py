"""Retry times of messages. Source: standardwebhooks.com, Retries."""

from datetime import timedelta

import pytest

import build
from silverball.service.webhooks import policy

SECOND, MINUTE, HOUR = timedelta(seconds=1), timedelta(minutes=1), timedelta(hours=1)


@pytest.mark.parametrize(
    ("tries", "waits"),
    [
        (1, 5 * SECOND),
        (2, 5 * MINUTE),
        (3, 30 * MINUTE),
        (4, 2 * HOUR),
        (5, 5 * HOUR),
        (6, 10 * HOUR),
        (7, None),
        (8, None),
    ],
)
def test_each_failed_try_is_followed_by_a_later_one(tries: int, waits: timedelta | None) -> None:
    assert policy.next_try_at(tries, build.NOW) == (None if waits is None else build.NOW + waits)


def test_the_last_try_comes_while_the_announcement_is_stored() -> None:
    assert sum(policy.RETRIES, timedelta()) < timedelta(hours=24)


@pytest.mark.parametrize(
    ("failures", "rests"),
    [(1, 0 * SECOND), (2, 5 * SECOND), (3, 30 * SECOND), (4, MINUTE), (5, 5 * MINUTE), (500, 5 * MINUTE)],
)
def test_an_address_that_keeps_failing_rests_longer(failures: int, rests: timedelta) -> None:
    assert policy.resting_until(failures, build.NOW) == build.NOW + rests


@pytest.mark.parametrize(("days", "is_given_up"), [(0, False), (4.99, False), (5, True), (9, True)])
def test_an_address_is_switched_off_after_five_days(days: float, is_given_up: bool) -> None:
    assert policy.is_given_up(build.NOW - timedelta(days=days), build.NOW) == is_given_up
