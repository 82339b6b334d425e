"""Waves of a round assigned together. Source: formats, section 7."""

from collections.abc import Sequence
from itertools import permutations, product
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rules.lineup.waiting_arenas import WaitingArenas, random_waiting
from rules.properties import quick
from silverball.rules.drawing import arenas
from silverball.rules.drawing.arenas import DrawableArena, Lineup

CASES = 500
# In sum at least 8 % below waves that are assigned one by one.
MOST_OF_ONE_BY_ONE = 0.92


def _missing(lineups: Sequence[Lineup]) -> int:
    return sum(lineup.count(None) for lineup in lineups)


def test_waves_assigned_together_cost_at_least_8_percent_less_in_sum_and_never_more() -> None:
    sums, played = [0, 0], [0, 0]
    for seed in range(CASES):
        waiting = random_waiting(Random(seed), matches=(8, 20), arenas_each=1.5)
        together, one_by_one = waiting.assigned_together(seed), waiting.assigned_one_by_one(seed)
        assert _missing(together) == _missing(one_by_one) == 0
        case_sums = [waiting.sum_of_costs(lineups) for lineups in (together, one_by_one)]
        case_played = [waiting.played_cost(lineups) for lineups in (together, one_by_one)]
        assert case_sums[0] <= case_sums[1], seed
        assert case_played[0] <= case_played[1], seed
        sums = [total + cost for total, cost in zip(sums, case_sums, strict=True)]
        played = [total + cost for total, cost in zip(played, case_played, strict=True)]
    assert sums[0] <= MOST_OF_ONE_BY_ONE * sums[1]
    assert played[0] <= MOST_OF_ONE_BY_ONE * played[1]


@given(st.integers())
@quick
def test_few_arenas_are_never_dearer_nor_fewer(seed: int) -> None:
    dice = Random(seed)
    waiting = random_waiting(dice, matches=(1, 6), arenas_each=dice.choice([0.5, 1, 2]))
    together, one_by_one = waiting.assigned_together(seed), waiting.assigned_one_by_one(seed)
    assert _missing(together) <= _missing(one_by_one)
    if _missing(together) == _missing(one_by_one):
        assert waiting.sum_of_costs(together) <= waiting.sum_of_costs(one_by_one)
        assert waiting.played_cost(together) <= waiting.played_cost(one_by_one)
    for wave in zip(*together, strict=True):
        arenas_used = [arena_id for arena_id in wave if arena_id is not None]
        assert len(arenas_used) == len({*arenas_used})


COSTS = st.lists(st.lists(st.integers(0, 9), min_size=4, max_size=4), min_size=3, max_size=3)


@given(COSTS)
@quick
def test_no_other_arenas_of_three_groups_in_two_waves_are_cheaper(costs: list[list[int]]) -> None:
    """Compared with all 576 ways to play two waves of three groups on four arenas."""
    waves = list(permutations(range(4), 3))
    cheapest = min(
        sum(costs[group][first[group]] + costs[group][second[group]] for group in range(3))
        for first, second in product(waves, waves)
        if all(own != other for own, other in zip(first, second, strict=True))
    )
    begun = [(group, arena) for group in range(3) for arena in (group, group + 1)]
    uses = arenas.cheapest_uses(costs, begun, 2)
    assert sum(costs[group][arena] for group, arena in uses) == cheapest


def test_a_game_that_waves_one_by_one_leave_without_an_arena_gets_one() -> None:
    """Two groups, three arenas, three waves: two greedy waves can leave both groups the same third arena."""
    begun = [(0, 0), (1, 1), (0, 1), (1, 0), (0, 2)]
    uses = arenas.cheapest_uses([[0, 0, 0], [0, 0, 0]], begun, 3)
    assert uses == {(group, arena) for group in (0, 1) for arena in range(3)}
    by_wave = arenas.order_uses(uses, 3, dict.fromkeys(uses, 0))
    assert [len(wave) for wave in by_wave] == [2, 2, 2]


def test_waves_without_arenas_come_last() -> None:
    by_wave = arenas.order_uses([(0, 0), (1, 0)], 3, {(0, 0): 0, (1, 0): 0})
    assert [len(wave) for wave in by_wave] == [1, 1, 0]


def test_an_arena_that_players_know_is_played_before_their_new_ones() -> None:
    # Arena 90 costs each player 1 in the first wave and 2 in the second, after their first game on 91.
    waiting = WaitingArenas([(1, 2)], [DrawableArena(90), DrawableArena(91)], {1: {90: 1}, 2: {90: 1}}, 2)
    for seed in range(10):
        assert waiting.assigned_together(seed) == [(90, 91)]


def test_preferred_arenas_win_ties_of_the_sum_and_nothing_else() -> None:
    choice = [DrawableArena(90), DrawableArena(91, is_preferred=True), DrawableArena(92, is_preferred=True)]
    fresh = WaitingArenas([(1, 2)], choice, {}, 2)
    known = WaitingArenas([(1, 2)], [*choice, DrawableArena(93)], {1: {91: 1}, 2: {92: 1}}, 2)
    for seed in range(10):
        assert {*fresh.assigned_together(seed)[0]} == {91, 92}
        assert {*known.assigned_together(seed)[0]} == {90, 93}


def test_one_game_a_match_is_assigned_as_ever() -> None:
    waiting = random_waiting(Random(7), matches=(8, 20), arenas_each=1.5)
    single = WaitingArenas(waiting.groups, waiting.choice, waiting.plays, 1)
    assert single.assigned_together(7) == single.assigned_one_by_one(7)


def test_equal_arenas_of_several_waves_are_drawn_by_the_dice() -> None:
    four = [DrawableArena(90 + at) for at in range(4)]
    waiting = WaitingArenas([(1, 2), (3, 4)], four, {}, 2)
    seen = {tuple(waiting.assigned_together(seed)) for seed in range(200)}
    assert len(seen) > 60


def test_waves_of_one_category_are_assigned_together() -> None:
    """Four waves of two categories: the first and third share theirs, and so do the second and fourth."""
    choice = [DrawableArena(at, category_id=1 + at % 2) for at in range(8)]
    dice = Random(3)
    plays = {player: {at: 1 for at in range(8) if dice.random() < 0.5} for player in range(8)}
    groups = [(0, 1), (2, 3), (4, 5), (6, 7)]
    lineups = arenas.assign_by_category(groups, choice, plays, waves=4, dice=Random(7))
    for lineup in lineups:
        assert [None if at is None else 1 + at % 2 for at in lineup] == [1, 2, 1, 2]
        assert len({*lineup}) == 4


@pytest.mark.parametrize("waves", [1, 3])
def test_nobody_and_nothing_have_nothing_to_exchange(waves: int) -> None:
    assert arenas.cheapest_uses([], [], waves) == set()
    assert arenas.order_uses([], waves, {}) == [{}] * waves
