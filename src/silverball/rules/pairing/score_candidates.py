"""Candidate pairs of a large strict Swiss: players of the own score group and of its neighbours.

All pairs of 2,000 players are two million, and nearly all of them lead too far up or down the table to
be drawn. A draw starts with some partners for each player and takes more while it cannot be made, or
while more partners still make it cheaper. Source: formats, section 6.5.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from itertools import islice, pairwise

from msgspec import Struct

from silverball.rules.pairing import matching
from silverball.rules.pairing.matching import Edge, Pair

# Partners of a player from one score group, and from how many full groups at the start.
PARTNERS_OF_GROUP = 12
GROUPS_AT_START = 3


class ScoreField(Struct, frozen=True):
    """Players as nodes from 0 in an order drawn by the dice, with all that a large draw needs."""

    # By node: the number of the score group; the worst is 0.
    group_of: Sequence[int]
    # Node -> nodes met before.
    met: Mapping[int, Set[int]]
    # (own group, other group) -> penalty of a pair that has not met.
    penalty_of: Callable[[int, int], int]
    # Node -> penalty of a bye; empty for an even number of players.
    bye_penalties: Mapping[int, int]


def cheapest_pairs(field: ScoreField) -> list[Pair] | None:
    """The pairs with the smallest sum of penalties among players who have not met, or None.

    The bye is the node after the last player. Candidates are doubled until everybody has a partner and
    the sum is the least possible, or has stopped falling. None when all pairs would have to be
    candidates: repeats may be needed.
    """
    node_count = len(field.group_of) + bool(field.bye_penalties)
    lowest = lowest_sum(field)
    partners = PARTNERS_OF_GROUP
    sum_before: int | None = None
    while partners < len(field.group_of):
        edges = candidate_edges(field, partners)
        pairs = matching.cheapest_pairs(node_count, edges)
        if matching.is_perfect(node_count, pairs):
            cost_of = {(node, other): cost for node, other, cost in edges}
            total = sum(cost_of[pair] for pair in pairs)
            if total in {lowest, sum_before}:
                return pairs
            sum_before = total
        partners *= 2
    return None


def lowest_sum(field: ScoreField) -> int:
    """A sum that no draw can go below: the score groups alone, as if nobody had met.

    Where an odd number of players stand above a gap of the table, a pair reaches over it. No pair over
    several gaps costs less than its gaps do one by one.
    """
    counts = Counter(field.group_of)
    if not field.bye_penalties:
        return _gap_sum(counts, field)
    penalty_of_group = {field.group_of[node]: cost for node, cost in field.bye_penalties.items()}
    return min(cost + _gap_sum(counts - Counter([group]), field) for group, cost in penalty_of_group.items())


def _gap_sum(counts: Counter[int], field: ScoreField) -> int:
    groups = sorted(counts, reverse=True)
    total, above = 0, 0
    for group, next_group in pairwise(groups):
        above += counts[group]
        if above % 2:
            total += field.penalty_of(group, next_group)
    return total


def candidate_edges(field: ScoreField, partners: int) -> list[Edge]:
    """One edge per candidate pair, the lower node first, sorted.

    Each player gets this many partners of each score group, nearest (least penalty) groups first, until
    three full groups' worth are found.
    """
    members_of: dict[int, list[int]] = defaultdict(list)
    for node, group in enumerate(field.group_of):
        members_of[group].append(node)
    edges: set[Edge] = set()
    for group, members in members_of.items():
        penalties = {other: field.penalty_of(group, other) for other in members_of}
        nearest = sorted(members_of, key=penalties.__getitem__)
        for at, node in enumerate(members):
            wanted = GROUPS_AT_START * partners
            for other_group in nearest:
                if wanted <= 0:
                    break
                unmet = _unmet_nodes(node, at, members_of[other_group], field.met.get(node, frozenset()))
                found = list(islice(unmet, partners))
                wanted -= len(found)
                edges.update((min(node, other), max(node, other), penalties[other_group]) for other in found)
    bye_at = len(field.group_of)
    edges.update((node, bye_at, cost) for node, cost in field.bye_penalties.items())
    return sorted(edges)


def _unmet_nodes(node: int, at: int, members: Sequence[int], met: Set[int]) -> Iterator[int]:
    """Members not met before, from the one at the player's own place in the group on, all around."""
    start = at % len(members)
    for other in (*members[start:], *members[:start]):
        if other != node and other not in met:
            yield other
