"""Mean durations."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rules.properties import quick
from silverball.service.games.reads import games


@pytest.mark.parametrize(
    ("times", "expected"),
    [([], None), ([None], None), ([5, None], 5), ([1, 2], 2), ([1, 1, 2], 1), ([0], 0), ([130.4], 130)],
)
def test_a_mean_is_in_whole_seconds_with_halves_up(times: list[float | None], expected: int | None) -> None:
    assert games.mean_seconds(times) == expected


@quick
@given(st.lists(st.integers(0, 10**6), min_size=1))
def test_a_mean_is_never_beyond_its_durations(times: list[int]) -> None:
    mean = games.mean_seconds(times)
    assert mean is not None
    assert min(times) <= mean <= max(times)
    assert mean == games.mean_from_total(sum(times), len(times))
