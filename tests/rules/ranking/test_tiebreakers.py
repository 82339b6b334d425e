"""Tiebreakers. Source: formats, section 13.4 and section 25, item 13."""

import itertools
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rules.properties import quick
from silverball.rules.ranking import points as ranking_points
from silverball.rules.ranking import standing


def _points(**points: int) -> dict[int, Decimal]:
    return {int(name[1:]): Decimal(value) for name, value in points.items()}


def _values_of(row: ranking_points.PointsTiebreak) -> tuple[int, ...]:
    return tuple(int(value) for value in row.values)


@pytest.mark.parametrize(
    ("totals", "median", "solkoff"),
    [([3, 4, 5, 5, 7], 14, 24), ([3, 7], 0, 10), ([], 0, 0), ([1, 2, 3], 2, 6), ([4, 4, 4], 4, 12)],
)
def test_the_strength_of_opponents_leaves_out_the_best_and_the_worst(
    totals: list[int], median: int, solkoff: int
) -> None:
    values = [Decimal(total) for total in totals]
    assert ranking_points.median_buchholz(values) == median
    assert ranking_points.solkoff(values) == solkoff


def test_a_match_play_row_shows_points_median_and_solkoff() -> None:
    points = _points(p1=4, p2=3, p3=4, p4=5, p5=5, p6=7)
    row = ranking_points.standard_tiebreaks(points, {1: [2, 3, 4, 5, 6]})[1]
    assert _values_of(row) == (4, 14, 24)


def test_every_meeting_with_an_opponent_counts() -> None:
    points = _points(p1=1, p2=3)
    assert _values_of(ranking_points.standard_tiebreaks(points, {1: [2, 2]})[1]) == (1, 0, 6)


ORDERS = [(1, 2, 3, 4), (1, 3, 2), (2, 1, 3, 4), (2, 1)]


def test_placement_counts_first_and_second_places() -> None:
    rows = ranking_points.placement_tiebreaks(_points(p1=20, p2=20, p3=9), ORDERS)
    assert {player_id: _values_of(row)[1:] for player_id, row in rows.items()} == {
        1: (2, 2),
        2: (2, 1),
        3: (0, 1),
    }
    assert standing.positions({player_id: row.key for player_id, row in rows.items()}) == {1: 1, 2: 2, 3: 3}


def test_fewer_last_places_are_better() -> None:
    rows = ranking_points.placement_last_tiebreaks(_points(p1=20, p2=20), ORDERS)
    assert [_values_of(rows[1]), _values_of(rows[2])] == [(20, 1), (20, 1)]
    rows = ranking_points.placement_last_tiebreaks(_points(p3=20, p4=20), [(3, 4), (4, 3), (1, 4)])
    assert standing.positions({player_id: row.key for player_id, row in rows.items()}) == {3: 1, 4: 2}


def test_a_bye_and_an_unknown_place_win_nothing() -> None:
    rows = ranking_points.wins_tiebreaks(_points(p1=1), [(1,), (None, None, None, 1)])
    assert _values_of(rows[1]) == (1, 0)
    assert _values_of(ranking_points.placement_last_tiebreaks(_points(p1=1), [(1,)])[1]) == (1, 0)


def test_wins_separate_equal_points() -> None:
    assert _values_of(ranking_points.wins_tiebreaks(_points(p1=9, p2=9), ORDERS)[2]) == (9, 2)


def test_the_better_seed_wins_so_that_no_ties_remain() -> None:
    rows = ranking_points.seed_tiebreaks(_points(p1=5, p2=5), {1: 8, 2: 3})
    assert standing.positions({player_id: row.key for player_id, row in rows.items()}) == {2: 1, 1: 2}


def test_without_a_tiebreaker_equals_stay_equal() -> None:
    assert _values_of(ranking_points.points_only(_points(p1=9))[1]) == (9,)


@given(
    st.lists(st.permutations([1, 2, 3, 4]), max_size=8), st.lists(st.integers(0, 50), min_size=4, max_size=4)
)
@quick
def test_a_tiebreaker_never_overrules_points(orders: list[list[int]], earned: list[int]) -> None:
    points = {player_id: Decimal(own) for player_id, own in zip((1, 2, 3, 4), earned, strict=True)}
    for rows in (
        ranking_points.placement_tiebreaks(points, orders),
        ranking_points.placement_last_tiebreaks(points, orders),
    ):
        for player_id, opponent_id in itertools.permutations(points, 2):
            if points[player_id] > points[opponent_id]:
                assert rows[player_id].key > rows[opponent_id].key


def test_a_player_without_seed_rank_is_our_own_mistake() -> None:
    with pytest.raises(KeyError):
        ranking_points.seed_tiebreaks(_points(p1=5), {})
