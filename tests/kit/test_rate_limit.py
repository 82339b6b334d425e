"""Rate limits: windows, intervals and the bound of their memory."""

from hypothesis import given
from hypothesis import strategies as st

from silverball.kit.edge.rate_limit import WINDOW_SECONDS, RateLimiter


def test_a_window_lasts_a_minute_from_its_first_request() -> None:
    limiter = RateLimiter(2)
    assert [limiter.take(7, now) for now in (100.0, 159.0, 159.9, 160.0)] == [1, 0, -1, 1]


def test_reading_the_remaining_count_does_not_open_a_window() -> None:
    limiter = RateLimiter(2)
    assert limiter.remaining(7, 100.0) == 2
    assert limiter.take(7, 159.0) == 1
    assert limiter.seconds_to_wait(7, 161.0) == 58


@given(st.lists(st.floats(0, 300), max_size=60).map(sorted), st.integers(1, 5))
def test_no_window_has_more_requests_than_the_limit(times: list[float], limit: int) -> None:
    limiter = RateLimiter(limit)
    passed = [time for time in times if limiter.take("ada", time) >= 0]
    while passed:
        first = passed[0]
        assert sum(time - first < WINDOW_SECONDS for time in passed) <= limit
        passed = [time for time in passed if time - first >= WINDOW_SECONDS]


def test_a_flood_of_addresses_does_not_fill_the_memory() -> None:
    limiter = RateLimiter(5, entries_max=100)
    for number in range(1000):
        limiter.take(f"stranger {number}", float(number) / 1000)
    # The newest callers are still known.
    assert limiter.remaining("stranger 999", 1.0) == 4
    assert limiter.remaining("stranger 1", 1.0) == 5
