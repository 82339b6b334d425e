"""Exact matching with the smallest sum of costs. Source: formats, sections 6.2, 6.5 and 7.

Nodes are numbers from 0. Fairness among equals is up to the caller, which numbers the nodes in an order
drawn by the dice. rustworkx is imported on first use.
"""

from collections.abc import Iterable, Sequence
from typing import TypeAlias

Edge: TypeAlias = tuple[int, int, int]
Pair: TypeAlias = tuple[int, int]

# rustworkx casts weights to 128 bits: 2**120 works and 2**130 raises.
COST_LIMIT = 2**110
# In a cost matrix: this pair is not allowed.
NO_EDGE = COST_LIMIT
PLAYERS_UNPRUNED_MAX = 300
PARTNERS_MIN = 16


def cheapest_pairs(node_count: int, edges: Sequence[Edge]) -> list[Pair]:
    """As many pairs as possible with the smallest sum of costs, sorted.

    Takes edges (node, node, integer cost), at most one per pair; costs may be negative. Raises ValueError
    for a cost beyond 2**110. Source: formats, section 6.2.
    """
    import rustworkx

    if any(abs(cost) >= COST_LIMIT for _, _, cost in edges):
        raise ValueError("a matching cost is beyond 2**110")
    graph: rustworkx.PyGraph[None, int] = rustworkx.PyGraph(multigraph=False)
    graph.add_nodes_from([None] * node_count)
    graph.add_edges_from([(node, other, -cost) for node, other, cost in edges])
    matched = rustworkx.max_weight_matching(graph, max_cardinality=True, weight_fn=int)
    return sorted((min(pair), max(pair)) for pair in matched)


def is_perfect(node_count: int, pairs: Iterable[Pair]) -> bool:
    """Whether every node is in one of these pairs."""
    return 2 * len(list(pairs)) == node_count


def cheapest_edges(costs: Sequence[Sequence[int]], partners: int = PARTNERS_MIN) -> list[Edge]:
    """The edges to the cheapest partners of each node, for fields too large for all pairs.

    Takes the full cost matrix (NO_EDGE for pairs that are not allowed). Among equal costs the nodes that
    follow come first (the first follows the last), so that the partners are spread over all nodes.
    Source: formats, section 6.2.
    """
    node_count = len(costs)
    chosen_pairs: set[Pair] = set()
    for node, row in enumerate(costs):
        nodes_around = [*range(node + 1, node_count), *range(node)]
        nodes_around.sort(key=row.__getitem__)
        chosen_pairs.update((min(node, other), max(node, other)) for other in nodes_around[:partners])
    return _possible_edges((node, other, costs[node][other]) for node, other in sorted(chosen_pairs))


def all_edges(costs: Sequence[Sequence[int]]) -> list[Edge]:
    """One edge per pair. Takes the full cost matrix, NO_EDGE for pairs that are not allowed."""
    nodes = range(len(costs))
    return _possible_edges(
        (node, other, costs[node][other]) for node in nodes for other in range(node + 1, len(costs))
    )


def _possible_edges(edges: Iterable[Edge]) -> list[Edge]:
    return [edge for edge in edges if edge[2] != NO_EDGE]


def perfect_matching(costs: Sequence[Sequence[int]]) -> list[Pair]:
    """The cheapest perfect matching of an even number of nodes.

    Takes the full cost matrix. Above 300 nodes only the cheapest partners of each node are considered,
    and all of them when that leaves a node unmatched. Raises ValueError for an odd number of nodes.
    Source: formats, section 6.2.
    """
    node_count = len(costs)
    if node_count % 2:
        raise ValueError(f"{node_count} nodes cannot be matched perfectly")
    if node_count > PLAYERS_UNPRUNED_MAX:
        pairs = cheapest_pairs(node_count, cheapest_edges(costs))
        if is_perfect(node_count, pairs):
            return pairs
    return cheapest_pairs(node_count, all_edges(costs))
