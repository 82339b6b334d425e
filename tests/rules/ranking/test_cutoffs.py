"""The bubble. Source: formats, section 13.3, and the bands of a real series."""

from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rules.properties import quick
from silverball.rules.ranking import standing

BAND = {"index": 0, "value": 8, "cumulative": 8, "text": "FINALS CUTOFF", "color": "fuchsia"}


@dataclass(frozen=True)
class Band:
    cumulative: int
    color: str


@pytest.mark.parametrize(
    ("position", "tied", "is_on_bubble"),
    [(8, 2, True), (8, 3, True), (7, 2, None), (7, 3, True), (9, 2, None), (1, 9, True), (1, 8, None)],
)
def test_only_a_tie_across_the_border_is_on_the_bubble(
    position: int, tied: int, is_on_bubble: bool | None
) -> None:
    shown = standing.bubbles(dict.fromkeys(range(tied), position), [BAND])
    assert [bubble.on_cutoff_bubble for bubble in shown.values()] == [is_on_bubble] * tied
    color = "fuchsia" if is_on_bubble else None
    assert {bubble.cutoff_bubble_color for bubble in shown.values()} == {color}


def test_a_tie_across_two_borders_shows_the_first_color_and_the_second_flag() -> None:
    bands: list[Any] = [Band(6, "red"), {**BAND, "cumulative": 4, "color": "blue"}]
    bubble = standing.bubbles(dict.fromkeys(range(5), 3), bands)[0]
    assert bubble == standing.Bubble(True, "blue", True)


def test_without_bands_nobody_is_on_the_bubble() -> None:
    assert standing.bubbles({1: 1, 2: 1}, []) == {1: standing.NO_BUBBLE, 2: standing.NO_BUBBLE}


@given(st.dictionaries(st.integers(1, 30), st.integers(0, 5), min_size=1), st.integers(1, 30))
@quick
def test_a_player_alone_on_a_place_is_never_on_the_bubble(keys: dict[int, int], border: int) -> None:
    placed = standing.positions(keys)
    shown = standing.bubbles(placed, [{**BAND, "cumulative": border}])
    for members in standing.members_by_position(placed).values():
        if len(members) == 1:
            assert shown[members[0]] == standing.NO_BUBBLE


def test_too_many_bands_are_our_own_mistake() -> None:
    with pytest.raises(ValueError, match="bands"):
        standing.parse_cutoffs([BAND] * 101)
