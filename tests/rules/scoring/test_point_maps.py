"""Point maps. Source: formats, sections 9 and 11."""

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rules.properties import quick
from silverball.kit.errors import Invalid
from silverball.rules.registry import FORMATS
from silverball.rules.scoring import point_maps

KNOWN = sorted(point_maps.SCORINGS)


@pytest.mark.parametrize(
    ("scoring", "rows"),
    [
        # Source: formats, section 11, the columns for 1, 2, 3 and 4 players.
        ("ifpa", ((7,), (7, 1), (7, 4, 1), (7, 5, 3, 1))),
        ("papa", ((4,), (4, 2), (4, 2, 1), (4, 2, 1, 0))),
        ("pinburgh", (("3",), ("3", "0"), ("3", "1.5", "0"), ("3", "2", "1", "0"))),
        ("winnerbonus", ((5,), (5, 1), (5, 3, 1), (5, 3, 2, 1))),
        ("winneronly", ((1,), (1, 0), (1, 0, 0), (1, 0, 0, 0))),
        ("winwinlossloss", ((1,), (1, 0), (1, 0, 0), (1, 1, 0, 0))),
        ("aussierules", ((7,), (7, 0), (7, 3, 0), (7, 4, 2, 0))),
        ("bapa", ((8,), (8, 2), (8, 5, 2), (8, 6, 4, 2))),
        ("nepl", ((10,), (10, 2), (10, 5, 2), (10, 6, 4, 2))),
        ("dcleague", (("4",), ("4", "1"), ("4", "2.5", "1"), ("4", "3", "2", "1"))),
        (
            "progressive",
            (("1.00",), ("1.00", "0.01"), ("1.00", "0.02", "0.01"), ("1.00", "0.03", "0.02", "0.01")),
        ),
    ],
)
def test_a_scoring_starts_with_its_map(scoring: str, rows: Any) -> None:
    assert point_maps.map_of_scoring(scoring) == rows


def test_a_map_with_a_fraction_goes_out_entirely_as_texts() -> None:
    for rows in point_maps.SCORINGS.values():
        values = [value for row in rows for value in row]
        has_fraction = any(Decimal(str(value)) % 1 for value in values)
        assert all(isinstance(value, str) for value in values) == has_fraction


def test_strikes_show_their_own_maps_and_standard_strikes_the_ifpa_map() -> None:
    assert point_maps.map_of_strikes(fair=False, progressive=False) == point_maps.IFPA
    assert point_maps.map_of_strikes(fair=True, progressive=False)[3] == ("1.00", "0.02", "0.02", "0.01")
    assert point_maps.map_of_strikes(fair=False, progressive=True)[3] == ("1.00", "0.03", "0.02", "0.01")


def test_head_to_head_formats_show_the_row_with_three_entries() -> None:
    assert FORMATS["matchplay"].points_map(FORMATS["matchplay"].settings(), None) == (
        (1,),
        (1, 0),
        (1, 0, 0),
        (1, 0, 0),
    )
    assert list(point_maps.points_by_place(point_maps.HEAD_TO_HEAD, 4)) == [1, 0, 0, 0]
    assert FORMATS["golf"].points_map(FORMATS["golf"].settings(), None) is None


def test_a_custom_map_fills_the_rows_of_one_and_two_players() -> None:
    custom = {"type": "matchplay", "3P": ["7", "5", "1"], "4P": ["8", "5", "3", "0.5"]}
    assert point_maps.parse_custom_map(custom) == (
        ("8",),
        ("7", "1"),
        ("7", "5", "1"),
        ("8", "5", "3", "0.5"),
    )


@pytest.mark.parametrize(
    "custom",
    [
        {},
        {"3P": ["7", "5", "1"]},
        {"3P": ["7", "5"], "4P": ["7", "5", "3", "1"]},
        {"3P": ["7", "five", "1"], "4P": ["7", "5", "3", "1"]},
        {"3P": ["7", "0.001", "1"], "4P": ["7", "5", "3", "1"]},
        {"3P": ["NaN", "5", "1"], "4P": ["7", "5", "3", "1"]},
        {"3P": "751", "4P": ["7", "5", "3", "1"]},
    ],
)
def test_a_custom_map_that_cannot_be_used_is_refused(custom: dict[str, Any]) -> None:
    with pytest.raises(Invalid):
        point_maps.parse_custom_map(custom)


@pytest.mark.parametrize("scoring", ["custom", "idaho", "banana"])
def test_a_scoring_without_a_map_is_refused(scoring: str) -> None:
    with pytest.raises(Invalid, match=scoring):
        point_maps.map_of_scoring(scoring)


def test_points_are_told_by_slot() -> None:
    rows = point_maps.map_of_scoring("pinburgh")
    points = point_maps.points_by_slot(rows, [5, 6, 7], [7, 5, 6])
    assert [str(value) for value in points] == ["1.5", "0", "3"]


def test_a_finishing_order_with_other_players_is_our_own_mistake() -> None:
    with pytest.raises(ValueError, match="finishing order"):
        point_maps.points_by_slot(point_maps.IFPA, [1, 2], [1, 3])
    with pytest.raises(ValueError, match="group of 5"):
        point_maps.points_by_place(point_maps.IFPA, 5)


@given(st.sampled_from(KNOWN), st.permutations([1, 2, 3, 4]), st.integers(1, 4))
@quick
def test_a_better_place_never_earns_less(scoring: str, order: list[int], size: int) -> None:
    finishing_order = order[:size]
    slots = sorted(finishing_order)
    points = point_maps.points_by_slot(point_maps.map_of_scoring(scoring), slots, finishing_order)
    by_player = dict(zip(slots, points, strict=True))
    earned = [by_player[player_id] for player_id in finishing_order]
    assert earned == sorted(earned, reverse=True)


@pytest.mark.parametrize(
    ("order", "points"),
    [
        ((1, 2), ["0.50", "0.00"]),
        ((3, 1, 2), ["0.50", "0.25", "0.00"]),
        ((4, 3, 2, 1), ["0.50", "0.25", "0.12", "0.00"]),
    ],
)
def test_a_tiebreak_game_adds_a_part_of_a_point(order: tuple[int, ...], points: list[str]) -> None:
    earned = point_maps.points_by_slot(point_maps.TIEBREAKER, order, order)
    assert list(earned) == [Decimal(value) for value in points]


@pytest.mark.parametrize(
    ("byes", "games", "points"),
    [("full", 1, "1.00"), ("half", 1, "0.50"), ("zero", 1, "0.00"), ("full", 3, "3.00"), ("half", 3, "1.50")],
)
def test_a_bye_is_worth_what_the_organizer_chose_for_each_game(byes: str, games: int, points: str) -> None:
    assert str(point_maps.bye_points(point_maps.HEAD_TO_HEAD, byes, games)) == points


def test_a_bye_of_another_worth_is_refused() -> None:
    with pytest.raises(Invalid, match="full, half or zero"):
        point_maps.bye_points(point_maps.HEAD_TO_HEAD, "double")
