"""Standings of a series. Source: formats, section 21, and four real series."""

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from golden import load
from rules.properties import quick
from silverball.kit.errors import Invalid
from silverball.rules.ranking import series, standing

SERIES = load.vectors("series")
POINTS = st.integers(0, 100)
NIGHTS = st.lists(st.dictionaries(st.integers(1, 8), POINTS, max_size=8), max_size=6)


def _nights(listed: Any) -> list[dict[int, Decimal]]:
    return [{int(player): Decimal(str(value)) for player, value in night.items()} for night in listed]


def _rows(nights: list[dict[int, Decimal]], **asked: Any) -> dict[int, series.SeriesStanding]:
    asked = {"scoring": "points", "removed_results": 0, "cutoffs": [], **asked}
    return {row.player_id: row for row in series.series_standings(nights, **asked)}


@pytest.mark.parametrize(
    "real", SERIES, ids=[f"{series['scoring']}{series['removedResults']}" for series in SERIES]
)
def test_a_real_series_has_its_real_standings(real: Any) -> None:
    rows = _rows(
        _nights(real["tournamentPoints"]),
        scoring=real["scoring"],
        removed_results=real["removedResults"],
        cutoffs=real["cutoffs"],
    )
    assert len(rows) == len(real["standings"])
    for expected in real["standings"]:
        row = rows[expected["player"]]
        adjusted = None if expected["pointsAdjusted"] == [] else Decimal(str(expected["pointsAdjusted"]))
        assert row.position == expected["position"]
        assert row.points == Decimal(str(expected["points"]))
        assert row.points_adjusted == adjusted
        assert row.on_cutoff_bubble == expected["onCutoffBubble"]
        assert (row.cutoff_bubble_color is not None) == (expected["onCutoffBubble"] is True)


@pytest.mark.parametrize(
    ("results", "nights", "removed", "adjusted"),
    [
        # Source: formats, section 21, worked examples.
        ([35, 33, 31, 29, 28, 27], 10, 4, 183),
        ([35, 33, 31, 29, 28, 27, 20], 10, 4, 183),
        ([35, 33], 10, -5, 68),
        ([35, 33, 1], 3, -2, 68),
        # No more nights than would be dropped: all count. One more: the best one.
        ([35, 33], 3, 3, 68),
        ([35, 33], 3, 5, 68),
        ([35, 33], 4, 3, 35),
    ],
)
def test_removed_results_leave_the_best_nights(
    results: list[int], nights: int, removed: int, adjusted: int
) -> None:
    listed: list[dict[int, Decimal]] = [{1: Decimal(result)} for result in results]
    listed += [{}] * (nights - len(results))
    assert _rows(listed, removed_results=removed)[1].points_adjusted == adjusted


def test_points_may_be_texts_or_numbers() -> None:
    rows = series.series_standings([{1: "35.50"}, {1: 2}], scoring="points", removed_results=0, cutoffs=[])
    assert rows[0].points == Decimal("37.50")
    assert rows[0].points_adjusted is None


def test_players_tied_on_adjusted_points_share_their_place_whatever_their_raw_points() -> None:
    nights = _nights([{1: 100, 2: 78}, {1: 56, 2: 78}, {1: 38}])
    rows = _rows(nights, removed_results=-2)
    assert [rows[1].points, rows[2].points] == [194, 156]
    assert [rows[1].position, rows[2].position] == [1, 1]


def test_fewest_strokes_win_a_series_of_pingolf() -> None:
    rows = _rows(_nights([{1: 30, 2: 25}, {1: 30, 2: 34}]), scoring="pingolf")
    assert [rows[1].position, rows[2].position] == [2, 1]


def test_a_pingolf_player_with_too_few_nights_ranks_after_all_complete_ones() -> None:
    nights = _nights([{1: 30, 2: 25}, {1: 30}, {1: 28, 3: 20}])
    rows = _rows(nights, scoring="pingolf", removed_results=-2)
    assert [row.position for row in rows.values()] == [1, 2, 3]
    assert list(rows) == [1, 3, 2]
    assert rows[1].points_adjusted == 58


@given(NIGHTS, st.integers(-5, 5))
@quick
def test_a_series_is_ranked_by_what_counts_and_never_counts_more_than_was_scored(
    nights: list[dict[int, int]], removed: int
) -> None:
    rows = series.series_standings(nights, scoring="points", removed_results=removed, cutoffs=[])
    counted = {row.player_id: row.points if removed == 0 else row.points_adjusted for row in rows}
    assert all(row.points_adjusted is None or row.points_adjusted <= row.points for row in rows)
    for row in rows:
        own = counted[row.player_id]
        assert own is not None
        assert row.position == 1 + sum(other is not None and other > own for other in counted.values())


@pytest.mark.parametrize(
    ("positions", "points"),
    [
        # Source: formats, section 21: (97 + 96) / 2 = 96.5 -> 97; ranks 6 to 9: 93.5 -> 94.
        ({1: 1, 2: 2, 3: 3, 4: 4, 5: 4, 6: 6}, {1: 100, 2: 99, 3: 98, 4: 97, 5: 97, 6: 95}),
        ({6: 6, 7: 6, 8: 6}, {6: 94, 7: 94, 8: 94}),
        ({6: 6, 7: 6, 8: 6, 9: 6}, {6: 94, 7: 94, 8: 94, 9: 94}),
    ],
)
def test_tied_places_share_the_mean_of_their_points(
    positions: dict[int, int], points: dict[int, int]
) -> None:
    assert series.curve_points(positions, "bg_linear") == points


@pytest.mark.parametrize("real", [series for series in SERIES if series["scoring"] == "bg_linear"])
def test_every_real_night_under_a_curve_is_a_ranking_with_shared_means(real: Any) -> None:
    for night in _nights(real["tournamentPoints"]):
        placed = standing.positions(night)
        assert series.curve_points(placed, "bg_linear") == night


def test_a_custom_table_ends_in_nothing() -> None:
    assert series.curve_points({1: 1, 2: 2, 3: 3}, "custom", [10, 5]) == {1: 10, 2: 5, 3: 0}


def test_an_unknown_curve_is_refused() -> None:
    with pytest.raises(Invalid, match="no curve called"):
        series.curve_points({1: 1}, "bg_banana")


@pytest.mark.parametrize(
    ("removed", "reachable"),
    [
        (0, {1: 350, 2: 280, 3: 200}),
        (-1, {1: 100, 2: 100, 3: 100}),
        (-2, {1: 200, 2: 200, 3: 200}),
        (-3, {1: 290, 2: 280, 3: 200}),
        (1, {1: 290, 2: 280, 3: 200}),
    ],
    ids=["all count", "the best", "best two", "best three", "without the worst"],
)
def test_a_player_can_reach_what_winning_the_nights_left_brings(
    removed: int, reachable: dict[int, int]
) -> None:
    # By hand: player 1 has 90 and 60, player 2 has 80 and missed a night, player 3 missed both; two nights
    # of 100 are left.
    nights = [{1: 90, 2: 80}, {1: 60}]
    found = series.reachable_points(
        nights, removed_results=removed, nights_left=2, best_result=100, player_ids=(1, 2, 3)
    )
    assert found == reachable


@given(NIGHTS, st.integers(-4, 4), st.integers(0, 3))
@quick
def test_nobody_can_reach_less_than_without_a_win_left(
    nights: list[dict[int, int]], removed: int, left: int
) -> None:
    player_ids = {player_id for night in nights for player_id in night}
    found, now = (
        series.reachable_points(
            nights, removed_results=removed, nights_left=count, best_result=100, player_ids=player_ids
        )
        for count in (left, 0)
    )
    assert removed > 0 or all(found[player_id] >= points for player_id, points in now.items())
    assert all(points <= 100 * (len(nights) + left) for points in found.values())
