"""The first round. Source: formats, section 5, and the library's own draws for 2 to 33 players."""

from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from golden import load
from rules.properties import quick
from silverball.kit.errors import Invalid
from silverball.rules.drawing import groups, tiers

VECTORS = load.vectors("groups")
PAIRS = [(way, n, draw) for way, draws in VECTORS["first_round_2p"].items() for n, draw in draws.items()]
FOURS = [(way, n, draw) for way, draws in VECTORS["first_round_4p"].items() for n, draw in draws.items()]


@pytest.mark.parametrize(("way", "players", "draw"), PAIRS, ids=[f"{way}-{n}" for way, n, _ in PAIRS])
def test_pairs_are_those_of_the_library(way: str, players: str, draw: Any) -> None:
    drawn = tiers.draw_pairs(way, range(1, int(players) + 1), Random(7))
    assert [list(pair) for pair in drawn.groups] == draw["groups"]
    assert list(drawn.byes) == draw["byes"]


@pytest.mark.parametrize(("way", "players", "draw"), FOURS, ids=[f"{way}-{n}" for way, n, _ in FOURS])
def test_groups_of_four_are_those_of_the_library(way: str, players: str, draw: Any) -> None:
    drawn = tiers.draw_groups(way, range(1, int(players) + 1), Random(7))
    assert [list(group) for group in drawn.groups] == draw
    assert drawn.byes == ()


def test_five_and_six_players_keep_the_best_apart() -> None:
    # Source: formats, section 5.
    assert tiers.slaughter_groups([1, 2, 3, 4, 5]) == ((1, 3, 5), (2, 4))
    assert tiers.slaughter_groups([1, 2, 3, 4, 5, 6]) == ((1, 3, 6), (2, 4, 5))


def test_cross_is_played_as_slaughter_in_groups_and_best_game_as_slaughter_everywhere() -> None:
    seeds, dice = range(1, 9), Random(7)
    slaughter = tiers.draw_groups("slaughter", seeds, dice)
    assert tiers.draw_groups("cross", seeds, dice) == slaughter
    assert tiers.draw_groups("best_game", seeds, dice) == slaughter
    assert tiers.draw_pairs("best_game", seeds, dice) == tiers.draw_pairs("slaughter", seeds, dice)


@given(st.sampled_from(sorted(tiers.FIRST_ROUND_PAIRINGS)), st.integers(1, 40), st.integers())
@quick
def test_everybody_is_drawn_once_in_groups_of_the_right_size(way: str, players: int, seed: int) -> None:
    seeds = list(range(1, players + 1))
    pairs = tiers.draw_pairs(way, seeds, Random(seed))
    assert sorted([player for pair in pairs.groups for player in pair] + list(pairs.byes)) == seeds
    assert len(pairs.byes) == players % 2
    fours = tiers.draw_groups(way, seeds, Random(seed)).groups
    assert sorted(player for group in fours for player in group) == seeds
    assert sorted(map(len, fours)) == sorted(groups.group_sizes(players))


def test_a_random_first_round_ignores_the_seeds_and_follows_the_dice() -> None:
    draws = {tiers.draw_pairs("random", range(1, 9), Random(seed)) for seed in range(20)}
    assert len(draws) > 15
    assert tiers.draw_groups("random", range(9), Random(3)) == tiers.draw_groups(
        "random", range(9), Random(3)
    )


def test_an_unknown_first_round_is_refused() -> None:
    with pytest.raises(Invalid, match="snake is not a first-round pairing"):
        tiers.draw_pairs("snake", [1, 2], Random(7))
    with pytest.raises(Invalid, match="snake is not a first-round pairing"):
        tiers.draw_groups("snake", [1, 2], Random(7))
