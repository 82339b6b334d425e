"""Strict Swiss. Source: formats, section 6.5 and section 25, item 3."""

import math
from decimal import Decimal
from random import Random

import pytest

from rules.pairing import oracles
from silverball.rules.drawing import history, matching, swiss
from silverball.rules.drawing.groups import Draw, Group
from silverball.rules.drawing.history import DrawHistory

SEEDS = range(50)


def _history_of(text: str) -> DrawHistory:
    """A history from texts such as "P1:P3A,P2B": each player with all opponents met."""
    names = {"P1": 1, "P2A": 2, "P2B": 3, "P3A": 4, "P3B": 5, "P4": 6}
    meetings: dict[tuple[int, int], int] = {}
    for listed in text.split():
        player, opponents = listed.split(":")
        for opponent in opponents.split(","):
            low, high = sorted((names[player], names[opponent]))
            meetings[low, high] = 1
    return DrawHistory(meetings)


FIRST = _history_of("P1:P3A,P2B,P4 P2A:P3A,P3B,P4 P2B:P1,P3A,P3B P3A:P1,P2A,P2B P3B:P2A,P2B,P4 P4:P1,P2A,P3B")
FIRST_SCORES = {1: 3, 2: 2, 3: 2, 4: 1, 5: 1, 6: 0}
SECOND = DrawHistory({(player_id, opponent_id): 1 for player_id in (1, 2, 3) for opponent_id in (4, 5, 6)})
SECOND_SCORES = {1: 3, 2: 2, 4: 2, 3: 1, 5: 1, 6: 0}
THIRD_SCORES = {1: 2, 2: 2, 3: 1, 4: 0, 5: 0}
FOURTH = DrawHistory(byes={4: 1, 5: 1})


def _decimals(scores: dict[int, int]) -> dict[int, Decimal]:
    return {player: Decimal(score) for player, score in scores.items()}


@pytest.mark.sample(60)
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(
    ("scores", "past", "total"),
    [
        # Source: formats, section 6.5, vectors run in PHP and in Python.
        (FIRST_SCORES, FIRST, 34),
        (SECOND_SCORES, SECOND, 797),
        (THIRD_SCORES, history.EMPTY_HISTORY, 5),
        (THIRD_SCORES, FOURTH, 8),
    ],
    ids=["34", "797", "5", "8"],
)
def test_the_draw_has_the_smallest_penalty(
    scores: dict[int, int], past: DrawHistory, total: int, seed: int
) -> None:
    asked = _decimals(scores)
    drawn = swiss.draw_strict_swiss_pairs(asked, past, Random(seed), rounds=3)
    assert oracles.penalty_total(asked, past, drawn, rounds=3) == total


def _groups_of(drawn: Draw) -> set[tuple[int, ...]]:
    return {tuple(sorted(group)) for group in drawn.groups} | {(player,) for player in drawn.byes}


def test_the_vectors_have_their_pairs() -> None:
    first = swiss.draw_strict_swiss_pairs(_decimals(FIRST_SCORES), FIRST, Random(7), rounds=3)
    assert _groups_of(first) == {(1, 2), (3, 6), (4, 5)}
    second = swiss.draw_strict_swiss_pairs(_decimals(SECOND_SCORES), SECOND, Random(7), rounds=3)
    assert _groups_of(second) == {(1, 2), (3, 6), (4, 5)}
    fourth = swiss.draw_strict_swiss_pairs(_decimals(THIRD_SCORES), FOURTH, Random(7), rounds=3)
    assert _groups_of(fourth) == {(3,), (1, 2), (4, 5)}


def test_a_repeat_costs_what_it_costs_in_the_library() -> None:
    assert swiss.Penalties(top_group=3, player_count=6).pair_penalty(2, 0, 1, 12) == 1746


def _night(players: int, rounds: int, seed: int) -> list[list[Group]]:
    """A whole match play: the player with the lower number wins two games out of three."""
    dice = Random(seed)
    scores = dict.fromkeys(range(players), Decimal(0))
    played: list[list[Group]] = []
    for number in range(rounds):
        past = history.history_of_rounds(played)
        drawn = swiss.draw_strict_swiss_pairs(scores, past, dice, rounds=number)
        for pair in drawn.groups:
            scores[min(pair) if dice.random() < 2 / 3 else max(pair)] += 1
        for player in drawn.byes:
            scores[player] += 1
        played.append([*drawn.groups, *[(player,) for player in drawn.byes]])
    return played


def test_nobody_meets_twice_before_it_is_unavoidable() -> None:
    played = _night(players=20, rounds=16, seed=7)
    first_repeat = next(
        (
            number
            for number in range(1, 17)
            if max(history.history_of_rounds(played[:number]).meetings.values()) > 1
        ),
        17,
    )
    past = history.history_of_rounds(played[: first_repeat - 1])
    fresh = [
        (player_id, opponent_id, 0)
        for player_id in range(20)
        for opponent_id in range(player_id + 1, 20)
        if not past.times_met(player_id, opponent_id)
    ]
    # A repeat is only right if no perfect draw without repeats was left.
    assert first_repeat == 17 or not matching.is_perfect(20, matching.cheapest_pairs(20, fresh))


def test_byes_differ_by_at_most_one_in_fifty_rounds() -> None:
    byes = history.history_of_rounds(_night(players=21, rounds=50, seed=7)).byes
    counts = [byes.get(player, 0) for player in range(21)]
    assert max(counts) - min(counts) <= 1


def test_nobody_meets_further_away_than_the_next_score_group_in_the_first_rounds() -> None:
    dice, scores = Random(7), dict.fromkeys(range(50), Decimal(0))
    played: list[list[Group]] = []
    for number in range(math.ceil(math.log2(50))):
        drawn = swiss.draw_strict_swiss_pairs(scores, history.history_of_rounds(played), dice, rounds=number)
        groups_of = swiss.score_groups(scores, number)
        assert all(
            abs(groups_of[player_id] - groups_of[opponent_id]) <= 1 for player_id, opponent_id in drawn.groups
        )
        for pair in drawn.groups:
            scores[dice.choice(pair)] += 1
        played.append(list(drawn.groups))


@pytest.mark.parametrize(
    ("scores", "rounds", "numbers"),
    [
        (["0", "1", "2"], 2, [0, 1, 2]),
        (["5", "5", "7"], 2, [0, 0, 2]),
        (["0", "0.5", "2"], 2, [0, 1, 4]),
        (["-3", "-2", "0"], 3, [0, 1, 3]),
        (["0", "100", "101"], 2, [0, 5, 6]),
        (["0", "1000"], 0, [0, 1]),
        (["0", "0.25"], 1, [0, 1]),
    ],
)
def test_score_groups_are_numbered_from_the_bottom(
    scores: list[str], rounds: int, numbers: list[int]
) -> None:
    asked = {player: Decimal(score) for player, score in enumerate(scores)}
    assert list(swiss.score_groups(asked, rounds).values()) == numbers


def test_penalties_stay_small_enough_for_the_matching() -> None:
    penalties = swiss.Penalties(top_group=200, player_count=1000)
    assert penalties.repeats_counted >= 1
    assert penalties.pair_penalty(200, 0, 50, penalties.repeats_counted) < matching.COST_LIMIT
    assert swiss.Penalties(top_group=3, player_count=6).repeats_counted == swiss.REPEATS_MAX


def test_a_draw_of_nobody_is_empty() -> None:
    assert swiss.draw_strict_swiss_pairs({}, history.EMPTY_HISTORY, Random(7), rounds=0).groups == ()
