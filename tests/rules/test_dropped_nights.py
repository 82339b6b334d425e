"""Which nights of a series do not count for a player: the ones that the total leaves out."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from silverball.rules.ranking import series

NIGHTS = {1: {7: 10, 8: 3}, 2: {7: 20}, 3: {7: 10, 8: 5}, 4: {7: 5, 8: 5}}


@pytest.mark.parametrize(
    ("removed", "scoring", "dropped"),
    [
        (0, "points", {7: set(), 8: set()}),
        # The best two count; of two equal results the later one is dropped.
        (-2, "points", {7: {3, 4}, 8: {1}}),
        # The worst of four is dropped, and a missed night is a 0, which goes first.
        (1, "points", {7: {4}, 8: set()}),
        (4, "points", {7: set(), 8: set()}),
        # Few strokes are good.
        (-2, "pingolf", {7: {2, 3}, 8: {4}}),
    ],
)
def test_the_worst_nights_of_each_player_are_dropped(
    removed: int, scoring: str, dropped: dict[int, set[int]]
) -> None:
    assert series.dropped_nights(NIGHTS, scoring=scoring, removed_results=removed) == dropped


@given(
    st.lists(st.dictionaries(st.integers(1, 4), st.integers(0, 9), max_size=4), max_size=6),
    st.integers(-4, 4).filter(bool),
    st.sampled_from(["points", "pingolf"]),
)
def test_the_nights_that_are_not_dropped_make_the_total(
    nights: list[dict[int, int]], removed: int, scoring: str
) -> None:
    by_id = dict(enumerate(nights, start=1))
    dropped = series.dropped_nights(by_id, scoring=scoring, removed_results=removed)
    for standing in series.series_standings(nights, scoring=scoring, removed_results=removed, cutoffs=()):
        player_id = standing.player_id
        counted = [
            points[player_id]
            for night_id, points in by_id.items()
            if player_id in points and night_id not in dropped[player_id]
        ]
        assert sum(counted, Decimal(0)) == standing.points_adjusted
