"""Numbers of matches in brackets. Source: formats, sections 14.11 and 26."""

from collections.abc import Callable, Sequence

import pytest
from msgspec import UNSET

from rules.bracket_night import start_night
from silverball.kit.values import replace
from silverball.rules.drawing import bracket_nodes, elimination
from silverball.rules.drawing.bracket_nodes import BracketNode, NodeKey

NODES: dict[str, Callable[[int], Sequence[BracketNode]]] = {
    "bracket": bracket_nodes.single_elimination_nodes,
    "double_bracket": bracket_nodes.double_elimination_nodes,
}


def by_heap_number(kind: str, players: int) -> dict[int, int]:
    """Heap number -> number of the match."""
    nodes = NODES[kind](elimination.size_for(players))
    numbers = bracket_nodes.match_numbers(nodes, players)
    return {node.number: numbers[node.key] for node in nodes if node.key in numbers}


@pytest.mark.parametrize(
    ("players", "numbers"),
    [
        # The final is 1 in the heap, third place 0, fifth place 9999.
        (2, {1: 1}),
        (3, {3: 1, 1: 2}),
        (4, {2: 1, 3: 2, 0: 3, 1: 4}),
        (5, {5: 1, 2: 2, 3: 3, 0: 4, 1: 5}),
        (8, {4: 1, 5: 2, 6: 3, 7: 4, 2: 5, 3: 6, 0: 7, 9999: 8, 1: 9}),
    ],
)
def test_matches_count_from_one_and_byes_have_no_number(players: int, numbers: dict[int, int]) -> None:
    assert by_heap_number("bracket", players) == numbers


def test_double_elimination_counts_in_playing_order_and_the_reset_is_last() -> None:
    # Eight: winners 1-4, losers 5-6, winners 7-8, losers 9-10 and 11, winners 12, losers 13, then the finals.
    nodes = bracket_nodes.double_elimination_nodes(8)
    numbers = bracket_nodes.match_numbers(nodes, 8)
    assert [numbers[node.key] for node in nodes] == list(range(1, 16))
    assert numbers[nodes[-1].key] == 15
    assert nodes[-1].reset_of is not None


@pytest.mark.parametrize("kind", list(NODES))
@pytest.mark.parametrize("players", range(2, 129))
def test_every_match_of_two_has_its_own_number(kind: str, players: int) -> None:
    nodes = NODES[kind](elimination.size_for(players))
    numbers = bracket_nodes.match_numbers(nodes, players)
    assert sorted(numbers.values()) == list(range(1, len(numbers) + 1))
    wins = [node for node in nodes if node.key in numbers and not node.is_extra and node.reset_of is None]
    # Each match that counts puts one player out for good, or down: all but one are out in the end.
    assert len(wins) == (players - 1 if kind == "bracket" else 2 * players - 2)


@pytest.mark.parametrize("kind", list(NODES))
def test_games_keep_their_number_whatever_is_played(kind: str) -> None:
    night = start_night(kind, 11)
    numbers: dict[NodeKey, int] = {}
    while night.open_games():
        game = night.open_games()[-1]
        assert isinstance(game.match_number, int)
        key = (game.set_number, game.game_index or 0)
        assert numbers.setdefault(key, game.match_number) == game.match_number
        night.record_order(game, *sorted(game.player_ids, reverse=len(numbers) % 3 == 0))
    byes = [game for game in night.tournament.games if game.is_bye]
    assert byes == [replace(bye, match_number=UNSET) for bye in byes]
    assert len(set(numbers.values())) == len(numbers)
