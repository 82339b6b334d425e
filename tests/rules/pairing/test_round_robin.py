"""Round robins. Source: formats, sections 14.8 and 14.9, and the library's own schedules."""

from collections import Counter
from itertools import combinations
from typing import Any

import pytest

from golden import load
from silverball.rules.drawing import schedule

VECTORS = load.vectors("groups")
SCHEDULES = [
    (int(n), is_double, rounds)
    for name, is_double in (("round_robin", False), ("double_round_robin", True))
    for n, rounds in VECTORS[name].items()
]


@pytest.mark.parametrize(
    ("players", "is_double", "rounds"), SCHEDULES, ids=[f"{n}-{d}" for n, d, _ in SCHEDULES]
)
def test_a_schedule_is_the_library_s(players: int, is_double: bool, rounds: Any) -> None:
    drawn = schedule.all_rounds(range(1, players + 1), is_double=is_double)
    shown = [{"groups": [list(pair) for pair in draw.groups], "byes": list(draw.byes)} for draw in drawn]
    assert shown == rounds


@pytest.mark.parametrize("players", range(2, 24))
def test_every_player_meets_every_other_once_and_starts_half_of_their_games(players: int) -> None:
    drawn = schedule.all_rounds(range(players))
    pairs = [pair for draw in drawn for pair in draw.groups]
    assert sorted(tuple(sorted(pair)) for pair in pairs) == list(combinations(range(players), 2))
    firsts = Counter(pair[0] for pair in pairs)
    half = (players - 1) / 2
    assert all(abs(firsts[player] - half) <= 0.5 for player in range(players))
    byes = Counter(player for draw in drawn for player in draw.byes)
    assert list(byes.values()) == [1] * (players if players % 2 else 0)


@pytest.mark.parametrize("name", VECTORS["wcs_groups"])
def test_groups_are_those_of_the_library(name: str) -> None:
    players, size = map(int, name.split("/"))
    dealt = schedule.groups_by_seed(range(1, players + 1), size)
    assert [list(group) for group in dealt] == VECTORS["wcs_groups"][name]


def test_without_a_group_size_everybody_is_in_one_group() -> None:
    assert schedule.groups_by_seed([3, 1, 2], 0) == [(3, 1, 2)]
    assert schedule.groups_by_seed([], 4) == []


def test_a_single_player_has_no_rounds() -> None:
    assert schedule.all_rounds([1]) == []
