"""Pingolf. Source: formats, section 16, and the library's own vectors."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from golden import load
from rules.properties import quick
from silverball.kit.errors import Invalid
from silverball.rules.scoring import pingolf

VECTORS: dict[str, Any] = load.vectors("groups")["golf"]
# The library's floats leave gaps for tiny targets; ours are whole numbers.
TARGETS = [target for target in VECTORS if int(target) > 10]


@pytest.mark.parametrize("target", TARGETS)
def test_strokes_are_those_of_the_library(target: str) -> None:
    for score, strokes in VECTORS[target]["strokes"].items():
        if strokes:
            assert pingolf.strokes_after_last_ball(int(score), int(target)) == strokes
    for strokes, (low, high) in VECTORS[target]["brackets"].items():
        for score in (low, high):
            assert pingolf.strokes_after_last_ball(score, int(target)) == int(strokes)


@pytest.mark.parametrize(
    ("score", "target", "strokes"),
    [(None, 10_000_000, 10), (1_999_999, 10_000_000, 10), (2_000_000, 10_000_000, 9), (5, 7, 7), (6, 7, 6)],
)
def test_each_missing_fifth_of_the_target_costs_a_stroke(
    score: int | None, target: int, strokes: int
) -> None:
    assert pingolf.strokes_after_last_ball(score, target) == strokes


@given(st.integers(1, 10**12), st.data())
@quick
def test_a_better_score_never_costs_more_strokes(target: int, data: st.DataObject) -> None:
    low, high = sorted(data.draw(st.lists(st.integers(0, target - 1), min_size=2, max_size=2)))
    better, worse = (
        pingolf.strokes_after_last_ball(high, target),
        pingolf.strokes_after_last_ball(low, target),
    )
    assert 6 <= better <= worse <= 10


@pytest.mark.parametrize("score", [7, 8, -1])
def test_a_reached_target_is_decided_by_the_ball(score: int) -> None:
    with pytest.raises(ValueError, match="between 0 and the target"):
        pingolf.strokes_after_last_ball(score, 7)


@pytest.mark.parametrize(("strokes", "limit", "kept"), [(10, 6, 6), (4, 6, 4), (10, 0, 10)])
def test_the_stroke_limit_caps_a_hole(strokes: int, limit: int, kept: int) -> None:
    assert pingolf.limited_strokes(strokes, limit) == kept


@pytest.mark.parametrize("strokes", [0, 11])
def test_impossible_strokes_are_refused(strokes: int) -> None:
    with pytest.raises(Invalid, match="1 to 10 strokes"):
        pingolf.limited_strokes(strokes, 6)


@pytest.mark.parametrize(
    ("holes", "counted", "limit", "is_closed", "total"),
    [
        ([4, 3, None], 0, 6, False, 7),
        ([4, 3, None], 0, 6, True, 13),
        ([4, 3, None], 0, 0, True, 17),
        ([4, 3, 6, 1], 2, 6, True, 4),
        ([], 0, 6, True, 0),
    ],
)
def test_a_total_adds_the_counted_holes(
    holes: list[int | None], counted: int, limit: int, is_closed: bool, total: int
) -> None:
    assert (
        pingolf.strokes_total(holes, holes_counted=counted, stroke_limit=limit, is_closed=is_closed) == total
    )


def test_more_holes_in_one_break_a_tie() -> None:
    with_an_ace, without_ace = pingolf.golf_tiebreak(9, [1, 4, 4]), pingolf.golf_tiebreak(9, [2, 3, 4])
    assert with_an_ace.values == (9, 1, 0, 0)
    assert without_ace.values == (9, 0, 1, 1)
    assert with_an_ace.key < without_ace.key
