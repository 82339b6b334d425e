"""Swiss draws. Source: formats, sections 6.4 and 6.6."""

from decimal import Decimal
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from rules.properties import quick
from silverball.rules.pairing import groups, history, swiss
from silverball.rules.pairing.history import DrawHistory

SCORES = st.lists(st.integers(0, 4), min_size=1, max_size=24)


def _scores(listed: list[int]) -> dict[int, Decimal]:
    return {player: Decimal(score) for player, score in enumerate(listed)}


@given(SCORES, st.integers())
@quick
def test_everybody_meets_a_player_once_and_at_most_one_floats_out_of_a_score_group(
    listed: list[int], seed: int
) -> None:
    drawn = swiss.draw_pairs(_scores(listed), history.EMPTY_HISTORY, Random(seed))
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
        drawn = swiss.draw_pairs(_scores([1, 1, 1, 1]), past, Random(seed))
        # 0 and 3 have not met; whoever of them is drawn first picks the other.
        if drawn.groups[0][0] in {0, 3}:
            assert sorted(drawn.groups[0]) == [0, 3]


def test_the_one_left_over_is_paired_first_in_the_next_score_group() -> None:
    drawn = swiss.draw_pairs(_scores([2, 1, 1, 1]), history.EMPTY_HISTORY, Random(7))
    assert drawn.groups[0][0] == 0


def test_the_bye_goes_to_the_fewest_byes_whatever_the_score() -> None:
    past = DrawHistory(byes={0: 1, 1: 1})
    byes = {swiss.draw_pairs(_scores([3, 2, 0]), past, Random(seed)).byes for seed in range(5)}
    assert byes == {(2,)}


@given(SCORES, st.integers())
@quick
def test_groups_of_four_are_neighbours_in_the_table(listed: list[int], seed: int) -> None:
    dice = Random(seed)
    past = history.history_of_rounds(
        [groups.slice_into_groups(dice.sample(range(len(listed)), len(listed))) for _ in range(3)]
    )
    drawn = swiss.draw_groups(_scores(listed), past, dice).groups
    assert tuple(map(len, drawn)) == groups.group_sizes(len(listed))
    in_drawn_order = [
        listed[player]
        for group in drawn
        for player in sorted(group, key=lambda player_id: -listed[player_id])
    ]
    assert in_drawn_order == sorted(listed, reverse=True)


def test_equals_change_seats_to_avoid_repeats() -> None:
    first = groups.slice_into_groups(range(16))
    drawn = swiss.draw_groups(_scores([1] * 16), history.history_of_rounds([first]), Random(7)).groups
    again = history.history_of_rounds([first, drawn])
    assert max(again.meetings.values()) == 1


def test_no_players_make_no_groups() -> None:
    assert swiss.draw_groups({}, history.EMPTY_HISTORY, Random(7)).groups == ()
    assert swiss.draw_pairs({}, history.EMPTY_HISTORY, Random(7)).groups == ()
