"""Shared places. Source: formats, sections 13.2 and 21."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rules.properties import quick
from silverball.rules.ranking import standing


@pytest.mark.parametrize(
    ("keys", "positions"),
    [
        ({1: 10, 2: 8, 3: 8, 4: 5}, {1: 1, 2: 2, 3: 2, 4: 4}),
        ({4: 1, 3: 1, 2: 1}, {2: 1, 3: 1, 4: 1}),
        ({}, {}),
    ],
)
def test_equals_share_the_better_place_and_the_next_is_skipped(
    keys: dict[int, int], positions: dict[int, int]
) -> None:
    placed = standing.positions(keys)
    assert placed == positions
    assert list(placed) == standing.ids_in_order(placed)


def test_the_lowest_may_be_best() -> None:
    assert standing.positions({1: 30, 2: 25, 3: 30}, highest_first=False) == {2: 1, 1: 2, 3: 2}


def test_keys_may_be_tuples() -> None:
    assert standing.positions({1: (5, 2), 2: (5, 3)}) == {2: 1, 1: 2}


@given(st.dictionaries(st.integers(1, 50), st.integers(0, 6)))
@quick
def test_a_position_is_one_more_than_the_number_of_better_players(keys: dict[int, int]) -> None:
    for player_id, position in standing.positions(keys).items():
        assert position == 1 + sum(other > keys[player_id] for other in keys.values())


def test_members_of_a_position_are_found_best_first() -> None:
    assert standing.members_by_position({3: 2, 1: 2, 9: 1}) == {1: (9,), 2: (1, 3)}


@pytest.mark.parametrize(
    ("values", "mean"), [([97, 96], 97), ([95, 94, 93, 92], 94), ([95, 94, 93], 94), ([1], 1)]
)
def test_a_mean_is_rounded_half_up(values: list[int], mean: int) -> None:
    assert standing.mean_half_up(values) == mean


def test_nothing_has_no_mean() -> None:
    with pytest.raises(ValueError, match="no values"):
        standing.mean_half_up([])
