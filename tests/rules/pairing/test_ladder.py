"""The ladder. Source: formats, section 14.13."""

import pytest

from silverball.rules.drawing import groups


@pytest.mark.parametrize(
    ("players", "is_fast", "sizes", "eliminated"),
    [
        (8, False, [4, 4, 4, 4, 4, 3, 2], [1, 1, 1, 1, 1, 1, 1]),
        (3, False, [3, 2], [1, 1]),
        (2, False, [2], [1]),
        (8, True, [4, 4, 4], [2, 2, 3]),
        (9, True, [3, 4, 4, 4], [1, 2, 2, 3]),
        (5, True, [3, 4], [1, 3]),
        (4, True, [4], [3]),
    ],
)
def test_a_ladder_has_its_games(players: int, is_fast: bool, sizes: list[int], eliminated: list[int]) -> None:
    games = groups.ladder_games(players, is_fast=is_fast)
    assert [game.player_count for game in games] == sizes
    assert [game.eliminated_count for game in games] == eliminated


@pytest.mark.parametrize("is_fast", [False, True])
@pytest.mark.parametrize("players", range(2, 40))
def test_a_ladder_leaves_one_and_survivors_play_on_with_the_next_seeds(players: int, is_fast: bool) -> None:
    alive = list(range(1, players + 1))
    survivors: set[int] = set()
    for game in groups.ladder_games(players, is_fast=is_fast):
        group = groups.next_group(alive, game)
        assert len(group) == game.player_count
        assert survivors <= set(group)
        # The worst seeds lose here, as good a guess as any.
        out = group[len(group) - game.eliminated_count :]
        alive = [seed for seed in alive if seed not in out]
        survivors = set(group) - set(out)
    assert alive == [1]


@pytest.mark.parametrize("players", [0, 1, 1001])
def test_an_impossible_ladder_is_our_own_mistake(players: int) -> None:
    with pytest.raises(ValueError, match="cannot play a ladder"):
        groups.ladder_games(players)
