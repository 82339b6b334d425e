"""The waves of a round assigned together: first the arenas of each group, then their order.

Which arenas a group gets does not depend on the waves: uses in which no group and no arena appears more
often than there are waves can always be played in so many (König). So they are a flow of least cost,
found by exchanging arenas between groups; the waves are taken out of it one after another.
Source: formats, section 7. rustworkx is imported on first use.
"""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import TypeAlias

from silverball.rules.pairing import matching
from silverball.rules.pairing.matching import Edge

# Group and arena, both numbered from 0.
Use: TypeAlias = tuple[int, int]

# Sixty matches of four games on sixty arenas that most players know need about twenty.
EXCHANGES_MAX = 100


def cheapest_uses(costs: Sequence[Sequence[int]], begun: Collection[Use], waves: int) -> set[Use]:
    """As many uses as possible with the smallest sum of costs, beginning with those of the exact waves.

    Takes costs by group and arena, and uses that can be played in so many waves. Each exchange adds a use
    or lowers the sum; when none is left the minimum is exact, and at most a hundred are made.
    """
    import rustworkx

    arena_count = len(costs[0]) if costs else 0
    uses = set(begun)
    for _ in range(EXCHANGES_MAX):
        graph: rustworkx.PyDiGraph[None, int] = rustworkx.PyDiGraph(multigraph=False)
        graph.add_nodes_from([None] * (len(costs) + arena_count + 2))
        graph.add_edges_from(_exchange_edges(costs, uses, waves))
        try:
            cycle = list(rustworkx.find_negative_cycle(graph, float))
        except ValueError:
            return uses
        for node, next_node in zip(cycle, [*cycle[1:], cycle[0]], strict=True):
            low, high = min(node, next_node), max(node, next_node)
            if low < len(costs) <= high < len(costs) + arena_count:
                uses ^= {(low, high - len(costs))}
    return uses


def _exchange_edges(costs: Sequence[Sequence[int]], uses: set[Use], waves: int) -> list[Edge]:
    """The steps of an exchange: a group takes an arena or leaves it, and either has fewer or more uses.

    Nodes are groups, arenas, the free waves of groups and those of arenas; a step through both adds a use.
    """
    groups, arena_count = len(costs), len(costs[0]) if costs else 0
    by_group, by_arena = Counter(group for group, _ in uses), Counter(arena for _, arena in uses)
    free_of_groups, free_of_arenas = groups + arena_count, groups + arena_count + 1
    edges: list[Edge] = []
    for group, row in enumerate(costs):
        for arena, cost in enumerate(row):
            at = groups + arena
            edges.append((at, group, -cost) if (group, arena) in uses else (group, at, cost))
        if by_group[group]:
            edges.append((group, free_of_groups, 0))
        if by_group[group] < waves:
            edges.append((free_of_groups, group, 0))
    for arena in range(arena_count):
        if by_arena[arena]:
            edges.append((free_of_arenas, groups + arena, 0))
        if by_arena[arena] < waves:
            edges.append((groups + arena, free_of_arenas, 0))
    above_all_costs = 1 + 2 * sum(abs(cost) for row in costs for cost in row)
    return [*edges, (free_of_arenas, free_of_groups, -above_all_costs)]


def order_uses(uses: Collection[Use], waves: int, known: Mapping[Use, int]) -> list[dict[int, int]]:
    """Group -> arena by wave. Takes for each use the number of players who know the arena.

    Every wave has as many games as possible. Known arenas come early, because a player's other arenas of
    the round, played before, make them dearer.
    """
    left = sorted(uses)
    groups = 1 + max((group for group, _ in left), default=0)
    node_count = groups + 1 + max((arena for _, arena in left), default=0)
    above_all_known = 1 + sum(known[use] for use in left)
    by_wave = []
    for waves_left in range(waves, 0, -1):
        by_group, by_arena = Counter(group for group, _ in left), Counter(arena for _, arena in left)
        edges = []
        for group, arena in left:
            # A group or arena with as many uses as waves left must have one in this wave.
            musts = (by_group[group] == waves_left) + (by_arena[arena] == waves_left)
            edges.append((group, groups + arena, -musts * above_all_known - known[group, arena]))
        wave = {group: at - groups for group, at in matching.cheapest_pairs(node_count, edges)}
        by_wave.append(wave)
        left = [(group, arena) for group, arena in left if wave.get(group) != arena]
    return by_wave
