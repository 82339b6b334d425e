"""Brackets as nodes. Source: formats, sections 14.10 and 14.11."""

from collections.abc import Sequence

import pytest

from silverball.kit.errors import Invalid
from silverball.rules.drawing import bracket_nodes, elimination
from silverball.rules.drawing.bracket_nodes import BracketNode, LoserSource, SeedSource, WinnerSource


def by_key(nodes: Sequence[BracketNode]) -> dict[tuple[int, int], BracketNode]:
    return {node.key: node for node in nodes}


def test_a_bracket_of_eight_has_its_extra_games_beside_semifinals_and_final() -> None:
    nodes = by_key(bracket_nodes.single_elimination_nodes(8))
    assert list(nodes) == [(0, 0), (0, 1), (0, 2), (0, 3), (1, 0), (1, 1), (1, 2), (2, 0), (2, 1)]
    assert nodes[0, 1].sources == (SeedSource(4), SeedSource(5))
    assert nodes[1, 0].sources == (WinnerSource((0, 0)), WinnerSource((0, 1)))
    assert nodes[1, 2].sources == tuple(LoserSource((0, place)) for place in range(4))
    assert nodes[2, 1].sources == (LoserSource((1, 0)), LoserSource((1, 1)))
    assert [node.winner_place for node in nodes.values() if node.winner_place] == [5, 1, 3]
    assert {key for key, node in nodes.items() if node.is_extra} == {(1, 2), (2, 1)}


def test_a_bracket_of_four_has_no_game_for_fifth_place() -> None:
    assert list(by_key(bracket_nodes.single_elimination_nodes(4))) == [(0, 0), (0, 1), (1, 0), (1, 1)]


@pytest.mark.parametrize("size", elimination.SIZES)
def test_every_node_comes_after_those_that_feed_it(size: int) -> None:
    for nodes in (bracket_nodes.single_elimination_nodes(size), bracket_nodes.double_elimination_nodes(size)):
        seen: set[tuple[int, int]] = set()
        for node in nodes:
            fed_by = {source.node for source in node.sources if not isinstance(source, SeedSource)}
            assert fed_by <= seen
            seen.add(node.key)
        assert len(seen) == len(nodes)
        seeds = [source.seed for node in nodes for source in node.sources if isinstance(source, SeedSource)]
        assert sorted(seeds) == list(range(1, size + 1))


@pytest.mark.parametrize("size", elimination.SIZES)
def test_places_of_losers_fill_the_table(size: int) -> None:
    places = [node.loser_place for node in bracket_nodes.single_elimination_nodes(size) if node.loser_place]
    assert sorted(places) == sorted(
        place
        for index in range(elimination.round_count(size) - 1)
        for place in [elimination.loser_position(size, index)] * (size >> (index + 1))
    )
    doubled = [node.loser_place for node in bracket_nodes.double_elimination_nodes(size) if node.loser_place]
    assert len(doubled) == size - 2
    assert min(doubled) == 3


def test_the_second_final_repeats_the_first() -> None:
    nodes = bracket_nodes.double_elimination_nodes(8)
    last = nodes[-1]
    assert last.reset_of == nodes[-2].key
    assert last.key[0] == len(elimination.round_order(8)) - 1
    assert last.winner_place == nodes[-2].winner_place == 1


def test_a_bracket_that_does_not_exist_is_refused() -> None:
    with pytest.raises(Invalid, match="no bracket of 12"):
        bracket_nodes.single_elimination_nodes(12)
