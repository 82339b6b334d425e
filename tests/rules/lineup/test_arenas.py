"""Arena assignment. Source: formats, section 7, and the library's own costs."""

from collections import Counter
from collections.abc import Sequence
from itertools import permutations
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from golden import load
from rules.properties import quick
from silverball.rules.drawing import arenas
from silverball.rules.drawing.arenas import DrawableArena, DrawableBank, Lineup

COSTS = load.vectors("groups")["arena_cost"]
FOUR = [DrawableArena(90), DrawableArena(91), DrawableArena(92), DrawableArena(93)]


def _plays(listed: Any) -> dict[int, dict[int, int]]:
    return {
        int(player): {int(arena): times for arena, times in row.items()} for player, row in listed.items()
    }


@pytest.mark.parametrize("vector", COSTS, ids=[vector["cost"] for vector in COSTS])
def test_an_arena_costs_what_it_costs_in_the_library(vector: Any) -> None:
    assert arenas.arena_cost(_plays(vector["plays"]), vector["group"], vector["arena"]) == vector["cost"]


@pytest.mark.parametrize("seed", range(10))
def test_a_group_gets_the_arenas_its_players_know_least(seed: int) -> None:
    # Source: formats, section 7, third vector.
    plays = {1: {90: 1, 91: 2, 92: 2}}
    (lineup,) = arenas.assign_balanced([(1, 2, 3, 4)], FOUR, plays, waves=2, dice=Random(seed))
    assert set(lineup) == {90, 93}
    assert sum(arenas.arena_cost(plays, (1, 2, 3, 4), arena_id or 0) for arena_id in lineup) == 5


def _assert_legal(lineups: Sequence[Lineup], waves: int) -> None:
    for wave in range(waves):
        given_out = [lineup[wave] for lineup in lineups if lineup[wave] is not None]
        assert len(given_out) == len(set(given_out))
    for lineup in lineups:
        own = [arena_id for arena_id in lineup if arena_id is not None]
        assert len(lineup) == waves
        assert len(own) == len(set(own))


@given(st.integers(1, 7), st.integers(0, 8), st.integers(1, 4), st.booleans(), st.integers())
@quick
def test_an_arena_serves_one_group_at_a_time_and_a_group_once(
    groups: int, count: int, waves: int, is_random: bool, seed: int
) -> None:
    field = [(2 * at, 2 * at + 1) for at in range(groups)]
    choice = [DrawableArena(90 + at) for at in range(count)]
    if is_random:
        lineups = arenas.assign_random(field, choice, waves=waves, dice=Random(seed))
    else:
        lineups = arenas.assign_balanced(field, choice, {}, waves=waves, dice=Random(seed))
    _assert_legal(lineups, waves)
    assert sum(lineup[0] is not None for lineup in lineups) == min(groups, count)


@given(st.lists(st.lists(st.integers(0, 3), min_size=3, max_size=3), min_size=3, max_size=3), st.integers())
@quick
def test_no_other_assignment_of_a_wave_is_cheaper(listed: list[list[int]], seed: int) -> None:
    field = [(0,), (1,), (2,)]
    plays = {player: dict(zip((90, 91, 92), row, strict=True)) for player, row in enumerate(listed)}
    lineups = arenas.assign_balanced(field, FOUR[:3], plays, waves=1, dice=Random(seed))

    def total(chosen: Sequence[int | None]) -> int:
        return sum(
            arenas.arena_cost(plays, group, arena_id or 0)
            for group, arena_id in zip(field, chosen, strict=True)
        )

    assert total([lineup[0] for lineup in lineups]) == min(map(total, permutations((90, 91, 92))))


def test_a_preferred_arena_wins_a_tie_but_not_against_a_fresh_one() -> None:
    choice = [DrawableArena(90), DrawableArena(91, is_preferred=True), DrawableArena(92)]
    for seed in range(10):
        (lineup,) = arenas.assign_balanced([(1, 2)], choice, {}, waves=1, dice=Random(seed))
        assert lineup == (91,)
        (lineup,) = arenas.assign_balanced([(1, 2)], choice, {1: {91: 1}}, waves=1, dice=Random(seed))
        assert lineup != (91,)


def test_equal_arenas_are_drawn_by_the_dice() -> None:
    seen = Counter(
        arenas.assign_balanced([(1, 2)], FOUR, {}, waves=1, dice=Random(seed))[0] for seed in range(200)
    )
    assert len(seen) == 4
    assert min(seen.values()) > 25


def test_banks_go_to_those_who_have_not_had_them_and_repeat_when_there_are_few() -> None:
    choice = [DrawableBank(1, (90, 91, 92)), DrawableBank(2, (93, 94))]
    had = {10: {1: 1}, 11: {1: 1}, 20: {2: 1}}
    first, second, third = arenas.assign_banks(
        [(10, 11), (20, 21), (30, 31)], choice, had, waves=3, dice=Random(7)
    )
    assert (first.bank_id, first.arenas) == (2, (93, 94, None))
    assert (second.bank_id, second.arenas) == (1, (90, 91, 92))
    assert third.bank_id in {1, 2}


def test_without_banks_or_arenas_the_organizer_assigns_later() -> None:
    assert arenas.assign_banks([(1, 2)], [], {}, waves=2, dice=Random(7))[0].arenas == (None, None)
    assert arenas.assign_balanced([(1, 2)], [], {}, waves=2, dice=Random(7)) == [(None, None)]
    assert arenas.assign_balanced([], FOUR, {}, waves=2, dice=Random(7)) == []


def test_each_wave_takes_the_next_category() -> None:
    choice = [DrawableArena(at, category_id=1 + at % 3) for at in range(6)] + [DrawableArena(99)]
    lineups = arenas.assign_by_category([(1, 2), (3, 4)], choice, {}, waves=4, dice=Random(7))
    _assert_legal(lineups, 4)
    for lineup in lineups:
        assert [None if arena_id is None else 1 + arena_id % 3 for arena_id in lineup] == [1, 2, 3, 1]
    assert arenas.assign_by_category([(1, 2)], [DrawableArena(99)], {}, waves=1, dice=Random(7)) == [(None,)]


def test_a_broken_arena_is_replaced_by_one_of_least_cost() -> None:
    plays = {1: {90: 1, 91: 1}}
    assert arenas.draw_replacement((1, 2), FOUR[:3], plays, [92], Random(7)) in {90, 91}
    assert arenas.draw_replacement((1, 2), FOUR[:3], plays, [90], Random(7)) == 92
    assert arenas.draw_replacement((1, 2), FOUR[:1], plays, [90], Random(7)) is None


@pytest.mark.parametrize("waves", [0, 101])
def test_an_impossible_number_of_waves_is_our_own_mistake(waves: int) -> None:
    with pytest.raises(ValueError, match="waves"):
        arenas.assign_random([(1, 2)], FOUR, waves=waves, dice=Random(7))
