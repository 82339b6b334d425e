"""Exact matching. Source: formats, section 6.2; checked against brute force."""

from collections.abc import Iterator, Sequence
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rules.properties import quick
from silverball.rules.drawing import matching


def _cost_matrix(costs: Sequence[int], nodes: int) -> list[list[int]]:
    square = [[0] * nodes for _ in range(nodes)]
    for (node, other_node), cost in zip(combinations(range(nodes), 2), costs, strict=True):
        square[node][other_node] = square[other_node][node] = cost
    return square


def _perfect(nodes: tuple[int, ...]) -> Iterator[tuple[tuple[int, int], ...]]:
    if not nodes:
        yield ()
        return
    first, rest = nodes[0], nodes[1:]
    for other in rest:
        for pairs in _perfect(tuple(node for node in rest if node != other)):
            yield ((first, other), *pairs)


@given(st.lists(st.integers(0, 50), min_size=15, max_size=15))
@quick
def test_no_perfect_matching_is_cheaper(costs: list[int]) -> None:
    square = _cost_matrix(costs, 6)
    pairs = matching.perfect_matching(square)
    assert matching.is_perfect(6, pairs)
    cheapest = min(
        sum(square[node][other_node] for node, other_node in tried) for tried in _perfect(tuple(range(6)))
    )
    assert sum(square[node][other_node] for node, other_node in pairs) == cheapest


def test_a_forbidden_pair_is_never_made() -> None:
    square = _cost_matrix([matching.NO_EDGE, 9, 9, 9, 9, matching.NO_EDGE], 4)
    assert (0, 1) not in matching.perfect_matching(square)


def test_huge_costs_still_match() -> None:
    assert matching.cheapest_pairs(2, [(0, 1, matching.COST_LIMIT - 1)]) == [(0, 1)]


def test_few_partners_leave_nobody_out() -> None:
    square = [[0] * 40 for _ in range(40)]
    edges = matching.cheapest_edges(square, 4)
    assert len(edges) < 40 * 39 // 2
    assert matching.is_perfect(40, matching.cheapest_pairs(40, edges))


def test_when_few_partners_are_too_few_everybody_is_looked_at() -> None:
    nodes = matching.PLAYERS_UNPRUNED_MAX + 2
    # All nodes prefer the first seventeen, which only have room for seventeen others.
    square = [
        [0 if min(node, other_node) < 17 else 1 for other_node in range(nodes)] for node in range(nodes)
    ]
    assert matching.is_perfect(nodes, matching.perfect_matching(square))


def test_an_odd_number_cannot_be_matched() -> None:
    with pytest.raises(ValueError, match="3 nodes"):
        matching.perfect_matching(_cost_matrix([1, 1, 1], 3))


def test_a_cost_beyond_the_limit_is_our_own_mistake() -> None:
    with pytest.raises(ValueError, match="beyond"):
        matching.cheapest_pairs(2, [(0, 1, matching.COST_LIMIT)])
