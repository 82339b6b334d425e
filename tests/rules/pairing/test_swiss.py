"""Swiss draws. Source: formats, sections 6.4 and 6.6."""

from decimal import Decimal
from itertools import pairwise
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rules.pairing import oracles
from rules.properties import quick
from silverball.rules.drawing import groups, history, swiss
from silverball.rules.drawing.groups import Draw
from silverball.rules.drawing.history import DrawHistory

SCORES = st.lists(st.integers(0, 4), min_size=1, max_size=24)


def _pairs(listed: list[int], past: DrawHistory, seed: int, *, rounds: int = 5, avoids: bool = False) -> Draw:
    return swiss.draw_swiss_pairs(_scores(listed), past, Random(seed), rounds=rounds, avoids_repeats=avoids)


def _scores(listed: list[int]) -> dict[int, Decimal]:
    return {player: Decimal(score) for player, score in enumerate(listed)}


@given(SCORES, st.integers())
@quick
def test_everybody_meets_a_player_once_and_at_most_one_floats_out_of_a_score_group(
    listed: list[int], seed: int
) -> None:
    drawn = _pairs(listed, history.EMPTY_HISTORY, seed)
    assert sorted([player for pair in drawn.groups for player in pair] + list(drawn.byes)) == list(
        range(len(listed))
    )
    for score in set(listed):
        floating_down = [
            pair for pair in drawn.groups if (listed[pair[0]] >= score) != (listed[pair[1]] >= score)
        ]
        assert len(floating_down) <= 1


def test_equals_who_have_met_least_meet() -> None:
    past = DrawHistory({(0, 1): 1, (0, 2): 1, (1, 2): 1, (1, 3): 1, (2, 3): 1})
    for seed in range(20):
        met = {tuple(sorted(pair)) for pair in _pairs([1, 1, 1, 1], past, seed).groups}
        assert met == {(0, 3), (1, 2)}


def test_the_bye_goes_to_the_fewest_byes_whatever_the_score() -> None:
    past = DrawHistory(byes={0: 1, 1: 1})
    assert {_pairs([3, 2, 0], past, seed).byes for seed in range(5)} == {(2,)}
    fresh = {_pairs([3, 2, 1, 0, 0], history.EMPTY_HISTORY, seed).byes for seed in range(40)}
    assert fresh == {(player,) for player in range(5)}


def test_another_has_the_bye_only_where_two_would_meet_again_at_once() -> None:
    past = DrawHistory({(0, 1): 1}, {2: 0}, met_last={(0, 1)})
    for seed in range(10):
        drawn = _pairs([1, 1, 0], past, seed)
        assert drawn.byes != (2,)


# Sum of last meetings, then by half of the night: repeats, or gaps and repeats. Source: formats, 6.4.
@pytest.mark.parametrize("avoids", [True, False])
@given(st.lists(st.integers(0, 3), min_size=4, max_size=8), st.integers(), st.integers(1, 4))
@quick
def test_no_draw_has_fewer_meetings_of_the_last_round_and_then_a_smaller_sum(
    avoids: bool, listed: list[int], seed: int, rounds: int
) -> None:
    dice = Random(seed)
    past = history.history_of_rounds([_random_round(len(listed), dice) for _ in range(rounds)])
    drawn = _pairs(listed, past, seed, rounds=9, avoids=avoids)
    (bye,) = drawn.byes or (None,)

    def costs(pairs: oracles.Pairs) -> tuple[int, ...]:
        last = sum(pair in past.met_last for pair in pairs)
        repeats = sum(past.times_met(*pair) ** 2 for pair in pairs)
        gaps = sum((listed[player] - listed[opponent]) ** 2 for player, opponent in pairs)
        return (last, repeats, gaps) if avoids else (last, gaps, repeats)

    # The bye of the dice stands here; that another takes it is a test of its own.
    playing = [player for player in range(len(listed)) if player != bye]
    assert costs(oracles.sorted_pairs(drawn)) == min(map(costs, oracles.all_pairings(playing)))


def _random_round(players: int, dice: Random) -> list[tuple[int, ...]]:
    order = dice.sample(range(players), players)
    return [tuple(order[at : at + 2]) for at in range(0, players, 2)]


@pytest.mark.sample(4)
@pytest.mark.parametrize("players", [10, 11, 16, 20, 25, 40])
@pytest.mark.parametrize("spread", [0, 1])
def test_nobody_meets_again_at_once_nor_needlessly_in_the_first_half_of_a_night(
    players: int, spread: int
) -> None:
    """Ten rounds; in the first five everybody can always have a new opponent."""
    dice = Random(players)
    skills = [dice.gauss(0, spread) for _ in range(players)]
    points = [0] * players
    played: list[list[groups.Group]] = []
    for number in range(10):
        past = history.history_of_rounds(played)
        drawn = _pairs(points, past, number, rounds=number, avoids=number < 5)
        assert not past.met_last & set(oracles.sorted_pairs(drawn))
        assert number >= 5 or not any(past.times_met(*pair) for pair in drawn.groups)
        for player, opponent in drawn.groups:
            wins = dice.gauss(skills[player] - skills[opponent], 1) > 0
            points[player if wins else opponent] += 1
        for player in drawn.byes:
            points[player] += 1
        played.append([*drawn.groups, *((player,) for player in drawn.byes)])


def test_a_large_field_is_paired_by_the_same_rules() -> None:
    dice, players = Random(7), 401
    points = [dice.randint(0, 4) for _ in range(players)]
    past = history.history_of_rounds([_random_round(players, dice) for _ in range(4)])
    drawn = _pairs(points, past, 7)
    assert sorted([*drawn.byes, *(player for pair in drawn.groups for player in pair)]) == list(
        range(players)
    )
    assert not any(past.times_met(*pair) for pair in drawn.groups)
    assert all(abs(points[player] - points[opponent]) <= 1 for player, opponent in drawn.groups)
    assert sum(points[player] != points[opponent] for player, opponent in drawn.groups) <= 4
    assert past.bye_count(drawn.byes[0]) == 0


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
    assert _pairs([], history.EMPTY_HISTORY, 7).groups == ()
