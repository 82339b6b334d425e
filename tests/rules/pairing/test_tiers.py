"""Tiers. Source: formats, section 6.7, and the library's own maps and draws."""

from typing import Any

import pytest

from golden import load
from silverball.rules.drawing import tiers

MAPS = load.vectors("tier_maps")
DRAWS = load.vectors("groups")["tiers"]
NIGHTS = [(int(rounds), int(n), row) for rounds, rows in MAPS.items() for n, row in rows.items()]
DRAWN = [
    (int(rounds.removeprefix("rounds=")), int(n.removeprefix("n=")), drawn)
    for rounds, fields in DRAWS.items()
    for n, drawn in fields.items()
]


def test_every_tier_map_is_the_library_s() -> None:
    for rounds, players, row in NIGHTS:
        for index, entry in enumerate(row):
            blocks = entry if isinstance(entry, list) else [entry] * (players // entry)
            assert list(tiers.block_sizes(rounds, index, players)) == blocks
    assert sorted({rounds for rounds, _, _ in NIGHTS}) == sorted(tiers.ROUNDS)


@pytest.mark.parametrize(("rounds", "players", "drawn"), DRAWN, ids=[f"{r}-{n}" for r, n, _ in DRAWN])
def test_the_groups_are_those_of_the_library(rounds: int, players: int, drawn: Any) -> None:
    for index, expected in enumerate(drawn):
        groups = tiers.tier_groups(range(1, players + 1), rounds, index).groups
        assert [list(group) for group in groups] == expected


@pytest.mark.parametrize("players", range(16, 161))
def test_only_the_bottom_plays_in_threes(players: int) -> None:
    for rounds in tiers.ROUNDS:
        for index in range(rounds):
            assert sum(tiers.block_sizes(rounds, index, players)) == players
            groups = tiers.tier_groups(range(players), rounds, index).groups
            assert sum(len(group) == 3 for group in groups) == -players % 4
            assert {len(group) for group in groups} <= {3, 4}


@pytest.mark.parametrize(("rounds", "players"), [(9, 16), (5, 15), (5, 161), (0, 16)])
def test_a_field_without_tiers_is_refused(rounds: int, players: int) -> None:
    with pytest.raises(tiers.NoTierMap, match="There are no tiers"):
        tiers.check_tiers(rounds, players)
    assert not tiers.has_round(rounds, 0, players)


def test_sixty_nine_players_do_not_leave_a_group_of_two() -> None:
    # The last three blocks of the map for 72 players are 8, 4 and 4.
    assert tiers.block_sizes(10, 8, 69)[-3:] == (7, 3, 3)


def test_tiers_end_with_their_last_round() -> None:
    assert tiers.has_round(5, 4, 16)
    assert not tiers.has_round(5, 5, 16)
    with pytest.raises(ValueError, match="round 5"):
        tiers.tier_groups(range(16), 5, 5)
