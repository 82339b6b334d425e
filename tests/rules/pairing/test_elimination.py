"""Single elimination. Source: formats, section 14.10, and the library's own maps."""

from typing import Any

import pytest

from golden import load
from silverball.kit.errors import Invalid
from silverball.rules.drawing import elimination

VECTORS = load.vectors("groups")
MAPS = VECTORS["bracket_first_round"]


@pytest.mark.parametrize("size", MAPS)
def test_the_first_round_is_the_library_s(size: str) -> None:
    games = elimination.first_round_games(int(size))
    assert {str(game.number): [game.better_seed, game.worse_seed] for game in games} == MAPS[size]


@pytest.mark.parametrize("games", VECTORS["bracket_double_bye"].values(), ids=VECTORS["bracket_double_bye"])
def test_the_heap_arithmetic_is_the_library_s(games: Any) -> None:
    # Where two winners meet; the games before are wired for the double byes alone.
    met = [game for game in games if game["p1"].startswith("W") and game["p2"].startswith("W")]
    assert met
    for game in met:
        fed_by = (int(game["p1"][1:]), int(game["p2"][1:]))
        assert elimination.feeding_game_numbers(game["game"]) == fed_by
        assert elimination.rounds_before_final(game["game"]) == game["round"]


@pytest.mark.parametrize("size", elimination.SIZES)
def test_every_seed_plays_once_and_favourites_meet_as_late_as_possible(size: int) -> None:
    games = elimination.first_round_games(size)
    assert sorted(seed for game in games for seed in (game.better_seed, game.worse_seed)) == list(
        range(1, size + 1)
    )
    alive = {game.number: game.better_seed for game in games}
    for index in range(1, elimination.round_count(size)):
        for number in elimination.round_game_numbers(size, index):
            first_seed, second_seed = (alive[child] for child in elimination.feeding_game_numbers(number))
            assert {first_seed, second_seed} <= set(range(1, (size >> index) + 1))
            alive[number] = min(first_seed, second_seed)
    assert alive[elimination.FINAL] == 1


def test_a_game_has_its_round_and_set() -> None:
    assert [elimination.round_index(8, number) for number in (4, 7, 2, 1)] == [0, 0, 1, 2]
    assert [elimination.set_index(number) for number in (4, 7, 2, 1)] == [0, 3, 0, 0]
    assert list(elimination.round_game_numbers(8, 0)) == [4, 5, 6, 7]
    assert [elimination.loser_position(16, index) for index in range(4)] == [9, 5, 3, 2]


@pytest.mark.parametrize(("players", "size"), [(2, 4), (4, 4), (5, 8), (33, 64), (128, 128)])
def test_the_next_size_up_is_taken(players: int, size: int) -> None:
    assert elimination.size_for(players) == size


def test_a_bracket_that_does_not_exist_is_refused() -> None:
    with pytest.raises(Invalid, match="2 to 128"):
        elimination.size_for(129)
    with pytest.raises(Invalid, match="no bracket of 12"):
        elimination.first_round_games(12)
    with pytest.raises(ValueError, match="game 0"):
        elimination.rounds_before_final(0)
