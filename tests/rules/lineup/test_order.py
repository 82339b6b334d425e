"""Playing orders. Source: formats, section 8."""

from collections import Counter
from itertools import permutations
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rules.properties import quick
from silverball.kit.errors import Invalid
from silverball.rules.drawing import order
from silverball.rules.drawing.order import OrderFacts

SLOTS = st.dictionaries(st.integers(1, 4), st.dictionaries(st.integers(0, 3), st.integers(0, 4)))
# Source: formats, section 8, worked example (players A, B, C, D are 1 to 4).
EXAMPLE = {1: {1: 2, 3: 1}, 2: {0: 1, 3: 1}, 3: {0: 2, 1: 2, 2: 3, 3: 2}, 4: {0: 1, 1: 1, 2: 5, 3: 1}}


def test_the_worked_example_is_played_in_one_of_its_best_orders() -> None:
    seen = {
        order.draw_first_order("balanced", [1, 2, 3, 4], OrderFacts(EXAMPLE), Random(seed))
        for seed in range(60)
    }
    assert all(order.order_cost(drawn_order, EXAMPLE) == 5 for drawn_order in seen)
    assert {(1, 4, 2, 3), (1, 3, 2, 4)} <= seen


@given(SLOTS, st.integers(1, 4), st.integers())
@quick
def test_no_other_order_is_cheaper(slots: dict[int, dict[int, int]], players: int, seed: int) -> None:
    group = range(1, players + 1)
    drawn = order.draw_first_order("balanced", group, OrderFacts(slots), Random(seed))
    assert order.order_cost(drawn, slots) == min(
        order.order_cost(other_order, slots) for other_order in permutations(group)
    )


@pytest.mark.parametrize(
    ("way", "expected"), [("seed", (7, 9, 5, 3)), ("seed_reverse", (3, 5, 9, 7)), ("position", (3, 5, 7, 9))]
)
def test_seeds_and_positions_decide(way: str, expected: tuple[int, ...]) -> None:
    facts = OrderFacts(seed_ranks={7: 1, 9: 2, 5: 3, 3: 8}, positions={3: 1, 5: 2, 7: 3, 9: 4})
    assert order.draw_first_order(way, [3, 5, 7, 9], facts, Random(7)) == expected


def test_players_without_a_seed_come_after_those_with_one() -> None:
    assert order.draw_first_order("seed", [1, 2, 3], OrderFacts(seed_ranks={3: 5, 2: 9}), Random(7)) == (
        3,
        2,
        1,
    )


@pytest.mark.parametrize("way", ["random", "disabled", "position", "balanced"])
def test_equals_are_drawn_by_the_dice(way: str) -> None:
    seen = Counter(order.draw_first_order(way, [1, 2], OrderFacts(), Random(seed)) for seed in range(200))
    assert set(seen) == {(1, 2), (2, 1)}
    assert min(seen.values()) > 60


def test_everybody_moves_up_a_slot_when_the_order_rotates() -> None:
    first, second, third, fourth, fifth = order.draw_orders(
        "rotating", [1, 2, 3, 4], OrderFacts(), games=5, dice=Random(7)
    )
    assert second == (*first[1:], first[0])
    assert third == (*second[1:], second[0])
    assert fourth[3] == first[2]
    assert fifth == first
    assert order.rotate_order((), 3) == ()


def test_all_games_of_a_round_keep_their_order_otherwise() -> None:
    played = order.draw_orders("random", [1, 2, 3, 4], OrderFacts(), games=3, dice=Random(7))
    assert len(played) == 3
    assert len(set(played)) == 1


def test_an_unknown_order_is_refused() -> None:
    with pytest.raises(Invalid, match="alphabet is not a playing order"):
        order.draw_first_order("alphabet", [1, 2], OrderFacts(), Random(7))
    with pytest.raises(ValueError, match="more than 4"):
        order.balanced_order([1, 2, 3, 4, 5], {})


def test_the_loser_starts_and_the_others_keep_their_order() -> None:
    # Worked by hand: 3 was last, so 3 starts, then 1, 2 and 4 as before.
    assert order.first_in_order((1, 2, 3, 4), 3) == (3, 1, 2, 4)
    assert order.first_in_order((1, 2, 3, 4), 1) == (1, 2, 3, 4)


@given(SLOTS, st.integers(1, 4), st.integers())
@quick
def test_the_first_game_of_a_round_is_balanced_where_the_loser_starts(
    slots: dict[int, dict[int, int]], players: int, seed: int
) -> None:
    group, facts = range(1, players + 1), OrderFacts(slots)
    drawn = order.draw_first_order("loser", group, facts, Random(seed))
    assert drawn == order.draw_first_order("balanced", group, facts, Random(seed))


@given(st.permutations(range(1, 5)), st.integers(1, 4))
@quick
def test_who_starts_is_the_loser_and_nobody_else_changes_places(group: list[int], last: int) -> None:
    seats = order.first_in_order(group, last)
    assert seats[0] == last
    assert [player_id for player_id in seats if player_id != last] == [
        player_id for player_id in group if player_id != last
    ]
