"""Windows and intervals: what a caller may ask, and how much is remembered."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from silverball.kit.edge.rate_limit import WINDOW_SECONDS, MinimumInterval, RateLimiter


def test_a_window_lasts_a_minute_from_its_first_hit_and_not_from_its_last() -> None:
    allowance = RateLimiter(2)
    assert [allowance.take(7, now) for now in (100.0, 159.0, 159.9, 160.0)] == [1, 0, -1, 1]


def test_looking_does_not_open_a_window() -> None:
    allowance = RateLimiter(2)
    assert allowance.remaining(7, 100.0) == 2
    assert allowance.take(7, 159.0) == 1
    assert allowance.seconds_to_wait(7, 161.0) == 58


def test_what_is_given_back_is_never_more_than_the_limit() -> None:
    allowance = RateLimiter(2)
    allowance.take(7, 0.0)
    for _ in range(3):
        allowance.refund(7)
    allowance.refund("a stranger")
    assert allowance.remaining(7, 0.0) == 2


@given(st.lists(st.floats(0, 300), max_size=60).map(sorted), st.integers(1, 5))
def test_no_minute_from_a_first_hit_on_has_more_hits_than_the_limit(moments: list[float], limit: int) -> None:
    allowance = RateLimiter(limit)
    passed = [moment for moment in moments if allowance.take("who", moment) >= 0]
    while passed:
        first = passed[0]
        assert sum(moment - first < WINDOW_SECONDS for moment in passed) <= limit
        passed = [moment for moment in passed if moment - first >= WINDOW_SECONDS]


def test_a_flood_of_strangers_does_not_fill_the_memory() -> None:
    allowance, pace = RateLimiter(5, entries_max=100), MinimumInterval(15, entries_max=100)
    for number in range(1000):
        allowance.take(f"stranger {number}", float(number) / 1000)
        pace.seconds_to_wait(f"stranger {number}", float(number) / 1000)
    # The newest are remembered.
    assert allowance.remaining("stranger 999", 1.0) == 4
    assert allowance.remaining("stranger 1", 1.0) == 5
    assert pace.seconds_to_wait("stranger 999", 1.0) == 15
    assert pace.seconds_to_wait("stranger 1", 1.0) == 0


@pytest.mark.parametrize(("moment", "wait"), [(100.0, 0), (100.1, 15), (114.0, 1), (115.0, 0), (115.1, 15)])
def test_an_interval_begins_with_a_request_that_passed(moment: float, wait: int) -> None:
    pace = MinimumInterval(15)
    waits = {at: pace.seconds_to_wait("who", at) for at in (100.0, 100.1, 114.0, 115.0, 115.1)}
    assert waits[moment] == wait


def test_an_interval_of_zero_lets_everything_pass() -> None:
    pace = MinimumInterval(0)
    assert [pace.seconds_to_wait("who", 1.0) for _ in range(3)] == [0, 0, 0]
