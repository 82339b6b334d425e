"""Distribution of points over places. Source: ratings, B.4."""

import math
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from silverball.rules.planning import value


def alone(players: int) -> list[int]:
    """Positions of a tournament without ties."""
    return list(range(1, players + 1))


def test_ten_players_share_ten_points_as_in_the_table() -> None:
    found = value.place_points(alone(10), rated_players=10, winner_points=10)
    assert [round(value, 2) for value in found] == [10, 3.68, 1.76, 0.94, 0.63, 0.50, 0.40, 0.30, 0.20, 0.10]
    assert found[1:3] == pytest.approx([3.678622, 1.755118], abs=1e-6)


def test_twenty_players_of_whom_fifteen_are_rated() -> None:
    found = value.place_points(alone(20), rated_players=15, winner_points=12.5)
    assert [round(value, 2) for value in found[:9]] == [12.50, 6.05, 3.60, 2.26, 1.51, 1.11, 0.91, 0.81, 0.75]
    assert round(found[-1], 2) == 0.06


def test_a_player_who_shares_a_place_shares_the_points_of_all_it_covers() -> None:
    positions = [1, 2, 3, 4, 5, 5, 5, 5, *range(9, 21)]
    found = value.place_points(positions, rated_players=15, winner_points=12.5)
    assert found[4:8] == pytest.approx([1.0843585873597195] * 4, abs=1e-12)


@pytest.mark.parametrize(
    ("place", "points"), [(2, 88.867), (10, 55.712), (64, 7.821), (90, 5.55), (91, 5.50)]
)
def test_the_dynamic_share_reaches_half_of_the_rated_field_however_large(place: int, points: float) -> None:
    found = value.place_points(alone(200), rated_players=180, winner_points=100)
    assert found[place - 1] == pytest.approx(points, abs=0.005 if place > 64 else 0.0005)


def test_without_rated_players_only_the_linear_share_is_given() -> None:
    assert value.place_points([1, 2], rated_players=0, winner_points=10) == [1, 0.5]


@pytest.mark.parametrize(
    ("positions", "rated", "sentence"),
    [
        ([1, 2, 2, 3], 4, "place 3 cannot follow: the next one is 4"),
        ([2, 3], 2, "place 2 cannot follow: the next one is 1"),
        ([1, 2], 3, "3 of 2 players cannot be rated"),
        ([1, 2], -1, "-1 of 2 players cannot be rated"),
    ],
)
def test_positions_of_no_finished_tournament_are_refused(
    positions: list[int], rated: int, sentence: str
) -> None:
    with pytest.raises(ValueError, match=sentence):
        value.place_points(positions, rated_players=rated, winner_points=10)


@given(st.lists(st.integers(1, 4), min_size=1, max_size=40), st.data(), st.floats(0, 500))
def test_a_better_place_is_never_worth_less_and_ties_change_no_sum(
    groups: list[int], data: st.DataObject, first_place: float
) -> None:
    positions = [1 + sum(groups[:at]) for at, size in enumerate(groups) for _ in range(size)]
    rated = data.draw(st.integers(0, len(positions)))
    found = value.place_points(positions, rated_players=rated, winner_points=first_place)
    assert all(value >= after - 1e-9 for value, after in pairwise(found))
    untied = value.place_points(alone(len(positions)), rated_players=rated, winner_points=first_place)
    assert math.fsum(found) == pytest.approx(math.fsum(untied), abs=1e-6)
    assert all(0 <= value <= first_place + 1e-9 for value in found)
