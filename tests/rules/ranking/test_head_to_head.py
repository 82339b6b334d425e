"""Who beat whom, as a tiebreaker. Source: formats, section 26."""

from decimal import Decimal
from itertools import combinations, pairwise
from random import Random
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rules.night import Night, a_night, random_order
from rules.properties import quick
from silverball.rules.model.tournament import Game
from silverball.rules.ranking import head_to_head
from silverball.rules.registry import FORMATS
from silverball.rules.verify import tallies

KINDS = ("matchplay", "group_matchplay", "max_matchplay", "manual_matchplay", "pace_matchplay")


def played(*orders: tuple[int, ...]) -> list[Game]:
    """Completed games with these finishing orders."""
    return [
        Game(
            game_id=number,
            round_id=None,
            player_ids=tuple(sorted(order)),
            result_positions=order,
            result_points=(Decimal(0),) * len(order),
            result_scores=(None,) * len(order),
            status="completed",
        )
        for number, order in enumerate(orders, start=1)
    ]


# Worked by hand: the tie, the games, and how many of the tied each player comes before.
CASES: list[tuple[str, tuple[int, ...], list[tuple[int, ...]], dict[int, int]]] = [
    ("the winner of the one game", (1, 2), [(2, 1)], {2: 1, 1: 0}),
    ("the winner of more games", (1, 2), [(2, 1), (1, 2), (1, 2)], {1: 1, 2: 0}),
    ("as many wins each", (1, 2), [(2, 1), (1, 2)], {1: 0, 2: 0}),
    ("never met", (1, 2), [(1, 3), (2, 3)], {1: 0, 2: 0}),
    ("a game of four", (1, 2, 3), [(3, 4, 1, 2)], {3: 2, 1: 1, 2: 0}),
    ("games with others do not count", (1, 2), [(2, 1), (1, 3), (3, 2)], {2: 1, 1: 0}),
    ("a circle", (1, 2, 3), [(1, 2), (2, 3), (3, 1)], {1: 0, 2: 0, 3: 0}),
    (
        "a circle below the best",
        (1, 2, 3, 4),
        [(1, 2), (1, 3), (1, 4), (2, 3), (3, 4), (4, 2)],
        {1: 3, 2: 0, 3: 0, 4: 0},
    ),
    (
        "two wins each for two, and a circle through all",
        (1, 2, 3, 4),
        [(1, 2), (1, 3), (4, 1), (2, 3), (2, 4), (3, 4)],
        {1: 0, 2: 0, 3: 0, 4: 0},
    ),
    ("two of three have not met", (1, 2, 3), [(1, 2), (1, 3)], {1: 0, 2: 0, 3: 0}),
    ("the last lost to two who are even", (1, 2, 3), [(1, 2), (2, 1), (1, 3), (2, 3)], {1: 1, 2: 1, 3: 0}),
]


@pytest.mark.parametrize(
    ("tie", "orders", "expected"), [case[1:] for case in CASES], ids=[c[0] for c in CASES]
)
def test_the_tied_are_told_apart_by_their_common_games(
    tie: tuple[int, ...], orders: list[tuple[int, ...]], expected: dict[int, int]
) -> None:
    assert head_to_head.players_behind([tie], played(*orders)) == expected


@pytest.mark.parametrize(
    ("tie", "orders", "why"),
    [
        ((1, 2), [(2, 1)], None),
        ((1, 2), [(1, 3), (2, 3)], "not met"),
        ((1, 2), [(1, 2), (2, 1)], "even"),
        ((1, 2, 3), [(1, 2), (2, 3), (3, 1)], "circle"),
    ],
)
def test_it_is_known_why_players_stay_tied(
    tie: tuple[int, ...], orders: list[tuple[int, ...]], why: str | None
) -> None:
    assert head_to_head.why_undecided(tie, played(*orders)) == why


@given(st.integers(2, 6), st.integers(0, 2**16), st.booleans())
@quick
def test_nobody_comes_before_a_player_who_reaches_them_by_a_chain_of_wins(
    count: int, seed: int, has_gap: bool
) -> None:
    dice, tie = Random(seed), tuple(range(1, count + 1))
    orders = [tuple(dice.sample(pair, 2)) for pair in combinations(tie, 2) for _ in range(dice.randint(1, 3))]
    games = played(*orders[has_gap:])
    behind = head_to_head.players_behind([tie], games)
    assert set(behind) == set(tie)
    # Those with the same number form the circles; between circles all is as it was played.
    won = dict.fromkeys(combinations(tie, 2), 0)
    for order in (game.result_positions for game in games):
        first, last = (each for each in order if each is not None)
        won[min(first, last), max(first, last)] += 1 if first < last else -1
    for (ann, other), margin in won.items():
        if behind[ann] != behind[other]:
            assert (behind[ann] > behind[other]) == (margin > 0)
            assert margin


@given(st.sampled_from(KINDS[:2]), st.integers(0, 2**16), st.integers(3, 6), st.integers(1, 7))
@quick
def test_the_verifier_agrees_and_points_are_never_overruled(
    kind: str, seed: int, players: int, rounds: int
) -> None:
    night = a_night(kind, players=players, arenas=4, tiebreaker="head_to_head")
    night.start()
    dice = Random(seed)
    for _ in range(rounds):
        for game in night.open_round():
            night.record_order(game, *random_order(game, dice))
    rows = night.standings()
    listed = {row["playerId"]: row for row in tallies.points_table(night.tournament)}
    for row in rows:
        assert (row.position, row.tiebreakers) == (
            listed[row.player_id]["position"],
            tuple(listed[row.player_id]["tiebreakers"]),
        )
    for better, worse in pairwise(rows):
        assert Decimal(str(better.points)) >= Decimal(str(worse.points))


def three_who_met(**given: Any) -> Night:
    """A round robin of three by match play, in which all have a win, a loss and a bye."""
    night = a_night("matchplay", players=3, arenas=4, byes="zero", **given)
    night.start()
    return night


def test_the_table_of_a_night_has_the_winner_of_the_game_between_two_equals_first() -> None:
    night = three_who_met(tiebreaker="head_to_head")
    (first,) = night.open_round()
    winner, loser = first.player_ids
    night.record_order(first, winner, loser)
    (second,) = night.open_round()
    third = next(player_id for player_id in (1, 2, 3) if player_id not in first.player_ids)
    other = next(player_id for player_id in second.player_ids if player_id != third)
    night.record_order(second, third, other)
    if other == loser:
        # The two with a win have not met.
        assert night.places() == {winner: 1, third: 1, loser: 3}
    else:
        # The third player beat the winner of the first game.
        assert night.places() == {third: 1, winner: 2, loser: 3}
        assert night.row(third).tiebreakers == ("1.00", 1)


@pytest.mark.parametrize("kind", KINDS)
def test_formats_of_points_offer_it(kind: str) -> None:
    assert a_night(kind, tiebreaker="head_to_head").standings() is not None


@pytest.mark.parametrize("kind", sorted(set(FORMATS) - set(KINDS) - {"target"}))
def test_other_formats_with_a_tiebreaker_refuse_it(kind: str) -> None:
    if "tiebreaker" in {field.name for field in msgspec.structs.fields(FORMATS[kind].settings)}:
        with pytest.raises(msgspec.ValidationError, match="tiebreaker"):
            a_night(kind, tiebreaker="head_to_head")
