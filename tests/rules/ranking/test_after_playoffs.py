"""Playoffs decide the order of those who reached them. Source: formats, section 21."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from silverball.rules.ranking import series

NIGHT = {1: 1, 2: 2, 3: 2, 4: 4, 5: 5}


@pytest.mark.parametrize(
    ("playoffs", "decided"),
    [
        ([], {1: 1, 2: 2, 3: 2, 4: 4, 5: 5}),
        # Third of the finals is the best seed, and no player outside passes them.
        ([{2: 1, 3: 2, 1: 3}], {2: 1, 3: 2, 1: 3, 4: 4, 5: 5}),
        # Ties in the finals stay ties.
        ([{1: 1, 2: 1}], {1: 1, 2: 1, 3: 3, 4: 4, 5: 5}),
        # The A finals come before the B finals; players of both are ranked by the first.
        ([{1: 2, 2: 1}, {4: 1, 5: 2, 2: 3}], {2: 1, 1: 2, 4: 3, 5: 4, 3: 5}),
        # A guest of the finals who was not in the tournament.
        ([{9: 1, 2: 2}], {2: 1, 1: 2, 3: 3, 4: 4, 5: 5}),
    ],
)
def test_a_player_who_reached_the_playoffs_stands_by_them(
    playoffs: list[dict[int, int]], decided: dict[int, int]
) -> None:
    assert series.positions_after_playoffs(NIGHT, playoffs) == decided


@given(
    st.dictionaries(st.integers(1, 9), st.integers(1, 9)),
    st.lists(st.dictionaries(st.integers(1, 9), st.integers(1, 9)), max_size=3),
)
def test_nobody_gets_lost_and_finalists_stand_before_the_others(
    positions: dict[int, int], playoffs: list[dict[int, int]]
) -> None:
    decided = series.positions_after_playoffs(positions, playoffs)
    assert set(decided) == set(positions)
    finalists = {player_id for playoff in playoffs for player_id in playoff} & set(positions)
    others = set(positions) - finalists
    assert all(decided[finalist] < decided[other] for finalist in finalists for other in others)
