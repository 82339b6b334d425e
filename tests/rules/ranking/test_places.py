"""Finishing places of the players of a game."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rules.properties import quick
from silverball.rules.ranking.standing import StoredResult, finishing_places


@pytest.mark.parametrize(
    ("positions", "points", "expected"),
    [
        # A complete order, whatever the points say.
        ((3, 1, 2), (None, None, None), {1: 1, 2: 2, 3: 0}),
        # Fair strikes of four: the middle two share. Source: formats, section 10.
        ((1, None, 2, 4), ("1.00", "0.02", "0.02", "0.01"), {1: 0, 2: 1, 3: 1, 4: 3}),
        # Two strikes of four: the last element is a player without a strike. Source: formats, section 10.
        ((None, None, None, 4), ("0.00", "1.00", "0.00", "1.00"), {1: 2, 2: 0, 3: 2, 4: 0}),
        # No result yet.
        ((None, None), (None, None), {}),
        ((None, None), ("1.00", None), {1: 0}),
        # A finishing order with a player missing.
        ((1, 1), ("0.00", "1.00"), {1: 1, 2: 0}),
    ],
)
def test_places_follow_from_the_order_or_else_from_the_points(
    positions: tuple[int | None, ...], points: tuple[str | None, ...], expected: dict[int, int]
) -> None:
    players = tuple(range(1, len(positions) + 1))
    known = tuple(None if own is None else Decimal(own) for own in points)
    assert finishing_places(StoredResult(players, positions, known)) == expected


@quick
@given(st.permutations([11, 22, 33, 44]))
def test_a_complete_order_gives_every_place_once(order: list[int]) -> None:
    found = finishing_places(StoredResult((11, 22, 33, 44), tuple(order), (None,) * 4))
    assert sorted(found, key=lambda player_id: found[player_id]) == order
    assert sorted(found.values()) == [0, 1, 2, 3]
