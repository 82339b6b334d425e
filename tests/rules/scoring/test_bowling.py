"""Pinbowling. Source: formats, section 17."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rules.properties import quick
from silverball.kit.errors import Invalid
from silverball.rules.scoring import pingolf

STRIKE = [10]
DUTCH = [STRIKE, [5, 5]] * 4 + [STRIKE, [5, 5, 10]]
FRAME = st.one_of(
    st.just([10]), st.integers(0, 9).flatmap(lambda pins: st.tuples(st.just(pins), st.integers(0, 10 - pins)))
)


@pytest.mark.parametrize(
    ("frames", "total"),
    [
        # Source: formats, section 17, vectors.
        ([STRIKE] * 9 + [[10, 10, 10]], 300),
        ([[5, 5]] * 9 + [[5, 5, 5]], 150),
        (DUTCH, 200),
        ([[9, 0]] * 10, 90),
        ([STRIKE, [3, 6]] + [[0, 0]] * 8, 28),
        ([], 0),
    ],
)
def test_a_line_has_the_total_of_ten_pin_bowling(frames: list[list[int]], total: int) -> None:
    assert sum(value or 0 for value in pingolf.frame_values(frames)) == total


@pytest.mark.parametrize(
    ("frames", "values"),
    [
        ([[10], [3, 6]], [19, 9, None]),
        ([[10]], [None, None, None]),
        ([[10], [10]], [None, None, None]),
        ([[5, 5], [3]], [13, None, None]),
        ([[10], [3]], [None, None, None]),
        ([[10], [10], [10, 10]], [30, 30, None]),
        ([[10], [10], [10, 10, 10]], [30, 30, 30]),
        ([[0, 10], [10], [1, 1]], [20, 12, 2]),
    ],
)
def test_a_frame_is_worth_something_once_its_bonus_is_known(
    frames: list[list[int]], values: list[int | None]
) -> None:
    assert pingolf.frame_values(frames, 3) == values


@pytest.mark.parametrize(
    ("frames", "values"),
    [
        ([STRIKE] * 9 + [[10, 10, 10]], (12, 0)),
        (DUTCH, (6, 5)),
        ([[0, 10]] * 9 + [[0, 10, 10]], (1, 10)),
        ([[9, 0]] * 10, (0, 0)),
    ],
)
def test_strikes_and_spares_break_ties(frames: list[list[int]], values: tuple[int, int]) -> None:
    assert pingolf.strikes_and_spares(frames) == values


@pytest.mark.parametrize(("score", "pins"), [(0, 0), (99, 0), (100, 1), (899, 8), (999, 9)])
def test_pins_fall_for_each_tenth_of_the_target(score: int, pins: int) -> None:
    assert pingolf.pins_by_closeness(score, 1000) == pins


@given(st.lists(FRAME, max_size=9))
@quick
def test_a_line_is_never_worth_less_than_its_decided_pins_nor_more_than_300(frames: list[list[int]]) -> None:
    values = pingolf.frame_values(frames)
    assert all(
        value is None or sum(rolls) <= value <= 30 for rolls, value in zip(frames, values, strict=False)
    )
    assert sum(value or 0 for value in values) <= 300


@pytest.mark.parametrize("rolls", [[11], [-1], [6, 5], [10, 1], [1, 2, 3]])
def test_rolls_that_no_frame_can_hold_are_refused(rolls: list[int]) -> None:
    with pytest.raises(Invalid):
        pingolf.frame_values([rolls])


@pytest.mark.parametrize("rolls", [[10, 6, 5], [5, 4, 1], [10, 10, 10, 10], [5, 5, 11]])
def test_rolls_that_the_last_frame_cannot_hold_are_refused(rolls: list[int]) -> None:
    with pytest.raises(Invalid):
        pingolf.frame_values([rolls], 1)


def test_more_frames_than_there_are_are_refused() -> None:
    with pytest.raises(Invalid, match="only 2 frames"):
        pingolf.frame_values([[1], [1], [1]], 2)


def test_a_reached_target_is_decided_by_the_ball() -> None:
    with pytest.raises(ValueError, match="between 0 and the target"):
        pingolf.pins_by_closeness(1000, 1000)
