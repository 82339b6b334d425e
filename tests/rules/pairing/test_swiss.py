"""Swiss draws. Source: formats, sections 6.4 and 6.6."""

from decimal import Decimal
from itertools import pairwise
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rules.properties import quick
from silverball.rules.drawing import groups, history, swiss
from silverball.rules.drawing.history import DrawHistory

SCORES = st.lists(st.integers(0, 4), min_size=1, max_size=24)


def _scores(listed: list[int]) -> dict[int, Decimal]:
    return {player: Decimal(score) for player, score in enumerate(listed)}


@given(SCORES, st.integers())
@quick
def test_everybody_meets_a_player_once_and_at_most_one_floats_out_of_a_score_group(
    listed: list[int], seed: int
) -> None:
    drawn = swiss.draw_swiss_pairs(_scores(listed), history.EMPTY_HISTORY, Random(seed))
    assert sorted([player for pair in drawn.groups for player in pair] + list(drawn.byes)) == list(
        range(len(listed))
    )
    for score in set(listed):
        floating_down = [
            pair for pair in drawn.groups if (listed[pair[0]] >= score) != (listed[pair[1]] >= score)
        ]
        assert len(floating_down) <= 1


def test_the_opponent_is_one_met_least_often() -> None:
    past = DrawHistory({(0, 1): 1, (0, 2): 1, (1, 2): 1, (1, 3): 1, (2, 3): 1})
    for seed in range(20):
        drawn = swiss.draw_swiss_pairs(_scores([1, 1, 1, 1]), past, Random(seed))
        # 0 and 3 have not met; whoever of them is drawn first picks the other.
        if drawn.groups[0][0] in {0, 3}:
            assert sorted(drawn.groups[0]) == [0, 3]


def test_the_one_left_over_is_paired_first_in_the_next_score_group() -> None:
    drawn = swiss.draw_swiss_pairs(_scores([2, 1, 1, 1]), history.EMPTY_HISTORY, Random(7))
    assert drawn.groups[0][0] == 0


def test_the_bye_goes_to_the_fewest_byes_whatever_the_score() -> None:
    past = DrawHistory(byes={0: 1, 1: 1})
    byes = {swiss.draw_swiss_pairs(_scores([3, 2, 0]), past, Random(seed)).byes for seed in range(5)}
    assert byes == {(2,)}


@given(SCORES, st.integers())
@quick
def test_groups_of_four_are_neighbours_in_the_table(listed: list[int], seed: int) -> None:
    dice = Random(seed)
    past = history.history_of_rounds(
        [groups.slice_into_groups(dice.sample(range(len(listed)), len(listed))) for _ in range(3)]
    )
    for keeps_threes_low in (False, True):
        drawn = swiss.draw_groups(_scores(listed), past, dice, keeps_threes_low=keeps_threes_low).groups
        assert tuple(map(len, drawn)) == groups.group_sizes(len(listed))
        threes = [past.short_groups.get(player, 0) for player in range(len(listed))]
        if not keeps_threes_low and max(threes) - min(threes) >= swiss.AHEAD_MAX:
            # Who would be three ahead may have left a three to a player of another score.
            continue
        # Two groups have one score in common at most.
        spans = sorted(sorted(listed[player] for player in group) for group in drawn)
        assert all(lower[-1] <= higher[0] for lower, higher in pairwise(spans))


# Earlier threes of the players from the top of the table, and the sizes of the groups; by hand.
CUTS = [
    # Nobody had one: the bottom.
    ([0] * 11, (4, 4, 3)),
    ([0] * 10, (4, 3, 3)),
    # The last three had one, 8 x 4 elsewhere at no cost: the lowest cut without them.
    ([0] * 8 + [1, 1, 1], (4, 3, 4)),
    ([0] * 4 + [1] * 7, (3, 4, 4)),
    # 4 + 4 + 4 at the bottom, 4 + 4 + 0 in the middle, 16 + 0 + 0 at the top.
    ([2, 0, 0, 1, 1, 1, 0, 1, 1, 1, 1], (4, 3, 4)),
    # Two threes: at the top (0) and in the middle (4) instead of at the bottom (12 each).
    ([0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1], (3, 3, 4, 4)),
    # Whoever would be three ahead is passed over, though 36 + 4 + 4 is less than 16 + 16 + 16.
    ([2, 2, 2, 2, 3, 1, 1], (3, 4)),
    # All are in threes, or there are pairs: no choice.
    ([0] * 9, (3, 3, 3)),
    ([1, 1, 1, 0, 0], (3, 2)),
]


@pytest.mark.parametrize(("threes", "sizes"), CUTS)
def test_threes_are_where_they_cost_least_then_low(threes: list[int], sizes: tuple[int, ...]) -> None:
    assert swiss.spread_threes(swiss.short_group_costs(threes, min(threes))) == sizes


def test_strikes_keep_the_threes_at_the_bottom_until_somebody_gets_a_second_one_first() -> None:
    scores = _scores([0, 0, 0, 0, -1, -1, -1])
    fresh = swiss.draw_groups(scores, history.EMPTY_HISTORY, Random(7), keeps_threes_low=True)
    assert set(fresh.groups[-1]) == {4, 5, 6}
    past = DrawHistory(short_groups={4: 1, 5: 1, 6: 1})
    again = swiss.draw_groups(scores, past, Random(7), keeps_threes_low=True)
    assert set(again.groups[-1]) < {0, 1, 2, 3}
    # When all had one, they are at the bottom again.
    even = DrawHistory(short_groups=dict.fromkeys(range(7), 1))
    third = swiss.draw_groups(scores, even, Random(7), keeps_threes_low=True)
    assert set(third.groups[-1]) == {4, 5, 6}


def test_who_would_be_three_ahead_leaves_the_three_to_the_nearest_player() -> None:
    # The one four holds the best or the last of thirteen; the other would be three ahead of those without.
    # In two rounds all met as many as they could, who are not here any more.
    meetings = {(player, 99): 4 if player in {0, 12} else 6 for player in range(13)}
    past = DrawHistory(meetings, short_groups={0: 2, 12: 2})
    for seed in range(10):
        drawn = swiss.draw_groups(_scores(list(range(13, 0, -1))), past, Random(seed)).groups
        (four,) = (group for group in drawn if len(group) == 4)
        assert set(four) in ({0, 1, 2, 12}, {0, 10, 11, 12})


@pytest.mark.parametrize("seed", range(2))
def test_the_limit_holds_between_those_who_play_all_rounds_when_somebody_comes_late(seed: int) -> None:
    counts = _threes_of_a_night(14, Random(seed), late_players=1)
    assert max(counts) - min(counts) <= 2


# The whole range of sizes and 200 seeds are a matter of minutes.
@pytest.mark.parametrize(
    ("players", "seeds"),
    [(13, 2), (22, 2), *(pytest.param(n, 6, marks=pytest.mark.soak) for n in range(13, 46))],
)
def test_threes_are_spread_over_those_who_play_all_rounds(players: int, seeds: int) -> None:
    for seed in range(seeds):
        counts = _threes_of_a_night(players, Random(seed))
        assert max(counts) - min(counts) <= 2, (players, seed)
        # Fours first gave the same players 10 to 12 of 12.
        assert max(counts) <= 12 * 3 * (-players % 4) / players + 2.5


def _threes_of_a_night(players: int, dice: Random, *, late_players: int = 0) -> list[int]:
    """How often each player was in a three in twelve rounds, with points of 7, 5, 3, 1 and 7, 4, 1.

    Without those who come late, after half of the rounds.
    """
    points = dict.fromkeys(range(players), Decimal(0))
    strength = {player: dice.gauss(0, 1) for player in range(players + late_players)}
    rounds: list[tuple[groups.Group, ...]] = [groups.slice_into_groups(dice.sample(range(players), players))]
    while len(rounds) < 12:
        for group in rounds[-1]:
            order = sorted(group, key=lambda player: strength[player] + dice.gauss(0, 1))
            for player, earned in zip(order, {4: (1, 3, 5, 7), 3: (1, 4, 7)}[len(group)], strict=True):
                points[player] += earned
        if len(rounds) == 6:
            points.update(dict.fromkeys(range(players, players + late_players), Decimal(0)))
        past = history.history_of_rounds(rounds)
        rounds.append(swiss.draw_groups(points, past, dice).groups)
    threes = history.history_of_rounds(rounds).short_groups
    return [threes.get(player, 0) for player in range(players)]


def test_equals_change_seats_to_avoid_repeats() -> None:
    first = groups.slice_into_groups(range(16))
    drawn = swiss.draw_groups(_scores([1] * 16), history.history_of_rounds([first]), Random(7)).groups
    again = history.history_of_rounds([first, drawn])
    assert max(again.meetings.values()) == 1


def test_no_players_make_no_groups() -> None:
    assert swiss.draw_groups({}, history.EMPTY_HISTORY, Random(7)).groups == ()
    assert swiss.draw_swiss_pairs({}, history.EMPTY_HISTORY, Random(7)).groups == ()
