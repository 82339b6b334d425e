"""Strict Swiss. Source: formats, section 6.5 and section 25, item 3."""

import math
from collections import Counter
from decimal import Decimal
from random import Random
from typing import Any

import pytest

from golden import load, strict_swiss
from rules.night import Night, a_night
from rules.pairing import oracles
from silverball.rules.drawing import history, matching, swiss
from silverball.rules.drawing.groups import Group
from silverball.rules.drawing.history import DrawHistory

# Rounds with the least sums of all draws, found by brute force: golden/strict_swiss.py.
VECTORS = load.vectors("strict_swiss")
EARLIER_ROUNDS = 9


def _history_of(vector: Any) -> DrawHistory:
    return DrawHistory(
        {(low, high): times for low, high, times in vector["meetings"]},
        byes=dict(enumerate(vector["byes"])),
        floats=dict(enumerate(vector["floats"])),
    )


def _scores_of(vector: Any) -> dict[int, Decimal]:
    return {player: Decimal(score) for player, score in enumerate(vector["scores"])}


@pytest.mark.parametrize("vector", VECTORS, ids=range(len(VECTORS)))
def test_the_draw_is_one_of_the_cheapest_that_there_are(vector: Any) -> None:
    cheapest = [sorted(map(tuple, pairs)) for pairs in vector["draws"]]
    for seed in range(20):
        drawn = swiss.draw_strict_swiss_pairs(
            _scores_of(vector), _history_of(vector), Random(seed), rounds=EARLIER_ROUNDS
        )
        pairs = sorted([*oracles.sorted_pairs(drawn), *((player,) for player in drawn.byes)])
        assert pairs in cheapest


def test_equally_cheap_draws_are_drawn_by_the_dice() -> None:
    vector = next(vector for vector in VECTORS if len(vector["draws"]) > 1)
    draws = {
        oracles.sorted_pairs(
            swiss.draw_strict_swiss_pairs(
                _scores_of(vector), _history_of(vector), Random(seed), rounds=EARLIER_ROUNDS
            )
        )
        for seed in range(40)
    }
    assert len(draws) == len(vector["draws"])


@pytest.mark.parametrize("vector", VECTORS, ids=range(len(VECTORS)))
def test_penalties_are_those_of_the_cheapest_draw(vector: Any) -> None:
    drawn = swiss.draw_strict_swiss_pairs(
        _scores_of(vector), _history_of(vector), Random(7), rounds=EARLIER_ROUNDS
    )
    total = oracles.penalty_total(_scores_of(vector), _history_of(vector), drawn, rounds=EARLIER_ROUNDS)
    assert total == vector["penalty"]


@pytest.mark.sample(3)
@pytest.mark.parametrize("kind", ["matchplay", "knockout"])
@pytest.mark.parametrize("players", [7, 8, 10])
def test_a_night_counts_who_has_floated(kind: str, players: int) -> None:
    """Each round of a night is one of the cheapest of all, with scores and floats counted here."""
    limit = {"knockout_strike_count": 4} if kind == "knockout" else {}
    night = a_night(kind, players=players, arenas=5, pairing="strictswiss", **limit)
    night.start()
    dice = Random(players)
    for _ in range(5):
        waiting, ids = _counted(night)
        night.open_round()
        if len(night.tournament.rounds) > 1:
            drawn = [
                game.player_ids
                for game in night.tournament.games
                if game.round_id == night.tournament.rounds[-1].round_id
            ]
            pairs = sorted(tuple(sorted(ids.index(player_id) for player_id in pair)) for pair in drawn)
            assert pairs in [sorted(map(tuple, each)) for each in strict_swiss.solved(waiting)["draws"]]
        night.finish_round(lambda _player_id: dice.random())


def _counted(night: Night) -> tuple[dict[str, Any], list[int]]:
    """The round to be drawn as a vector, and the player ids by number, from the games of the night."""
    # A loss is a strike.
    loss = -1 if night.tournament.type == "knockout" else 0
    points = dict.fromkeys(range(1, 1 + len(night.tournament.entrants)), 0)
    meetings: Counter[tuple[int, int]] = Counter()
    byes: Counter[int] = Counter()
    floats: Counter[int] = Counter()
    for round_ in night.tournament.rounds_in_order:
        games = [game for game in night.tournament.games if game.round_id == round_.round_id]
        pairs = [game.player_ids for game in games]
        floats.update(
            player for pair in pairs if len({points[player] for player in pair}) > 1 for player in pair
        )
        meetings.update((min(pair), max(pair)) for pair in pairs if len(pair) == 2)
        byes.update(pair[0] for pair in pairs if len(pair) == 1)
        for game in games:
            for player, earned in zip(game.player_ids, game.result_points, strict=True):
                points[player] += int(earned or 0) + loss
    limit = getattr(night.tournament.settings, "knockout_strike_count", 99)
    ids = [player for player, total in points.items() if -total < limit]
    lowest = min(points[player] for player in ids)
    return {
        "scores": [points[player] - lowest for player in ids],
        "meetings": [
            [ids.index(low), ids.index(high), times]
            for (low, high), times in sorted(meetings.items())
            if {low, high} <= {*ids}
        ],
        "byes": [byes[player] for player in ids],
        "floats": [floats[player] for player in ids],
    }, ids


def test_a_repeat_costs_more_than_all_gaps_and_the_bye_of_a_round() -> None:
    penalties = swiss.Penalties(top_group=3, player_count=6)
    # Three games over three levels, and a bye of the best: 3 * 9 + 64.
    assert penalties.pair_penalty(2, 0, 1, 12) == 4 + 3 * 9 + 64 + 1
    assert penalties.pair_penalty(2, 0, 2, 12) == 4 + 3 * (3 * 9 + 64 + 1)


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
