"""Balanced draws. Source: formats, sections 6.2 and 6.3 and section 25, item 4."""

from functools import cache
from itertools import combinations
from random import Random
from statistics import median
from time import process_time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from golden import load
from rules.pairing import oracles
from rules.properties import quick
from silverball.rules.drawing import balanced, groups, history
from silverball.rules.drawing.groups import Group
from silverball.rules.drawing.history import DrawHistory

COSTS = load.vectors("groups")["pairing_cost"]


def _past(vector: Any) -> DrawHistory:
    meetings: dict[tuple[int, int], int] = {}
    for player, opponents in enumerate(vector["history"]):
        for opponent in opponents:
            key = (min(player, opponent), max(player, opponent))
            meetings[key] = vector["history"][key[0]].count(key[1])
    short = {int(player): count for player, count in dict(vector["three_player_counts"]).items()}
    return DrawHistory(meetings, short_groups=short)


@pytest.mark.parametrize("vector", COSTS, ids=[vector["cost"] for vector in COSTS])
def test_a_group_costs_what_it_costs_in_the_library(vector: Any) -> None:
    assert oracles.group_cost(vector["group"], _past(vector), range(6)) == vector["cost"]


def _rounds_of_pairs(players: int, rounds: int, seed: int) -> list[list[Group]]:
    played: list[list[Group]] = []
    dice = Random(seed)
    for _ in range(rounds):
        drawn = balanced.draw_balanced_pairs(range(players), history.history_of_rounds(played), dice)
        played.append([*drawn.groups, *[(player,) for player in drawn.byes]])
    return played


def _rounds_of_fours(players: int, rounds: int, seed: int) -> list[list[Group]]:
    played: list[list[Group]] = []
    dice = Random(seed)
    for _ in range(rounds):
        drawn = balanced.draw_balanced_groups(range(players), history.history_of_rounds(played), dice)
        played.append(list(drawn.groups))
    return played


def _repeats(played: list[list[Group]]) -> int:
    return sum(times - 1 for times in history.history_of_rounds(played).meetings.values())


@given(st.sampled_from([6, 7, 12, 13]), st.integers())
@quick
def test_pairs_repeat_only_when_they_must(players: int, seed: int) -> None:
    # Half the rounds of a round robin: an exact draw never needs a repeat before the field is half done.
    rounds = players // 2
    played = _rounds_of_pairs(players, rounds, seed)
    assert _repeats(played) == 0
    for groups_drawn in played:
        assert sorted(player for group in groups_drawn for player in group) == list(range(players))


def test_byes_differ_by_at_most_one() -> None:
    byes = history.history_of_rounds(_rounds_of_pairs(9, 31, seed=7)).byes
    assert len(byes) == 9
    assert max(byes.values()) - min(byes.values()) <= 1


def test_equal_pairs_are_drawn_by_the_dice() -> None:
    draws = {
        balanced.draw_balanced_pairs(range(8), history.EMPTY_HISTORY, Random(seed)) for seed in range(30)
    }
    assert len(draws) > 25
    assert balanced.draw_balanced_pairs(range(8), history.EMPTY_HISTORY, Random(1)) in draws


def _without_climb(players: int, rounds: int, seed: int) -> int:
    """Repeats of the procedure of section 6.3 without the hill climb."""
    played: list[list[Group]] = []
    dice = Random(seed)
    for _ in range(rounds):
        table = balanced.SeatingCosts(range(players), history.history_of_rounds(played))
        started = balanced.best_greedy_seating(
            table, groups.group_sizes(players), balanced.RESTARTS_MAX, dice
        )
        played.append(list(started.player_groups()))
    return _repeats(played)


def test_sixteen_players_in_five_rounds_repeat_no_more_than_without_improvement() -> None:
    usual = median(_without_climb(16, 5, seed) for seed in range(20))
    assert median(_repeats(_rounds_of_fours(16, 5, seed)) for seed in range(5)) <= usual


@given(st.integers(1, 30), st.integers(0, 4), st.integers())
@quick
def test_groups_hold_everybody_once(players: int, rounds: int, seed: int) -> None:
    for drawn in _rounds_of_fours(players, rounds, seed):
        assert sorted(player for group in drawn for player in group) == list(range(players))
        assert tuple(map(len, drawn)) == groups.group_sizes(players)


def _repeat_cost(group: Group, past: DrawHistory) -> int:
    """The squares of the repeats and of twice the earlier threes; sums of other meetings do not count."""
    short = sum((2 * past.short_groups.get(player, 0)) ** 2 for player in group) if len(group) < 4 else 0
    return short + sum(past.times_met(*pair) ** 2 for pair in combinations(group, 2))


def _least_cost(players: frozenset[int], sizes: tuple[int, ...], past: DrawHistory) -> int:
    """The least cost of all ways to put these players in groups of these sizes, by looking at all of them."""

    @cache
    def least(players: frozenset[int], sizes: tuple[int, ...]) -> int:
        if not sizes:
            return 0
        first, *others = sorted(players)
        return min(
            _repeat_cost((first, *more), past)
            + least(players - {first, *more}, sizes[: sizes.index(size)] + sizes[sizes.index(size) + 1 :])
            for size in set(sizes)
            for more in combinations(others, size - 1)
        )

    return least(players, sizes)


@pytest.mark.sample(4)
@pytest.mark.parametrize("players", range(5, 17))
def test_no_groups_of_up_to_sixteen_players_have_fewer_repeats(players: int) -> None:
    dice, played = Random(players), list[list[Group]]()
    for _ in range(9):
        past = history.history_of_rounds(played)
        drawn = balanced.draw_balanced_groups(range(players), past, dice)
        assert tuple(sorted(map(len, drawn.groups), reverse=True)) == groups.group_sizes(players)
        if len(played) % 4 == 0 or players < 13:
            least = _least_cost(frozenset(range(players)), groups.group_sizes(players), past)
            assert sum(_repeat_cost(group, past) for group in drawn.groups) == least
        played.append(list(drawn.groups))


def test_equally_good_groups_are_drawn_by_the_dice() -> None:
    past = history.history_of_rounds([groups.slice_into_groups(range(8))])
    drawn = {
        frozenset(map(frozenset, balanced.draw_balanced_groups(range(8), past, Random(seed)).groups))
        for seed in range(60)
    }
    # Two of each earlier group in each: six ways to choose two of four, in 6 * 6 / 2 draws.
    assert len(drawn) > 12


def test_short_groups_go_round() -> None:
    short = history.history_of_rounds(_rounds_of_fours(9 + 4, 4, seed=7)).short_groups
    assert max(short.get(player, 0) for player in range(13)) <= 3


@given(st.integers(4, 24), st.integers())
@quick
def test_costs_kept_up_to_date_are_the_costs(players: int, seed: int) -> None:
    dice = Random(seed)
    past = history.history_of_rounds(
        [groups.slice_into_groups(dice.sample(range(players), players)) for _ in range(6)]
    )
    table = balanced.SeatingCosts(range(players), past)
    seated = balanced.Seating(table, balanced.seat_greedily(table, groups.group_sizes(players), dice))
    started = seated.cost_total
    balanced.improve_by_swaps(seated, 200, dice, classes=[list(range(players))])
    assert seated.group_costs == [table.cost_of_group(group) for group in seated.groups]
    assert seated.cost_total == sum(seated.group_costs) <= started


def test_no_players_make_no_groups() -> None:
    assert balanced.draw_balanced_groups([], history.EMPTY_HISTORY, Random(7)).groups == ()
    assert balanced.draw_balanced_pairs([], history.EMPTY_HISTORY, Random(7)).groups == ()


def test_a_player_named_twice_is_our_own_mistake() -> None:
    with pytest.raises(KeyError):
        oracles.group_cost([1, 99], history.EMPTY_HISTORY, [1, 2])


@pytest.mark.parametrize(("players", "seconds"), [(200, 0.3), (1000, 10)])
def test_a_large_field_is_paired_in_time(players: int, seconds: float) -> None:
    past = history.history_of_rounds(_rounds_of_pairs(players, 2, seed=7))
    started = process_time()
    drawn = balanced.draw_balanced_pairs(range(players), past, Random(7))
    assert process_time() - started < seconds
    assert all(past.times_met(*pair) == 0 for pair in drawn.groups)


def test_four_hundred_players_with_twenty_rounds_behind_them_are_grouped_in_time() -> None:
    dice = Random(7)
    past = history.history_of_rounds(
        [groups.slice_into_groups(dice.sample(range(400), 400)) for _ in range(20)]
    )
    started = process_time()
    drawn = balanced.draw_balanced_groups(range(400), past, dice)
    assert process_time() - started < 3
    assert sum(past.times_met(*pair) for group in drawn.groups for pair in combinations(group, 2)) == 0
