"""Pairs that should not meet: a cost above repeats and below byes. Source: formats, section 26."""

from collections.abc import Mapping, Sequence, Set
from decimal import Decimal
from itertools import combinations
from typing import TypeAlias

from msgspec import Struct

from silverball.kit.values import replace
from silverball.rules.drawing.groups import Draw
from silverball.rules.drawing.history import DrawHistory

# (lower player id, higher player id).
Pairs: TypeAlias = Set[tuple[int, int]]
# (pairs that meet, repeats or score gaps, the other of the two).
SeatCost: TypeAlias = tuple[int, Decimal, Decimal]
ZERO = Decimal(0)
# As many earlier meetings as no night has: their square is above every sum of repeats.
MEETINGS = 1000


class ApartFacts(Struct, frozen=True, kw_only=True):
    """The pairs, and what a swap of seats should cost least of."""

    pairs: Pairs
    past: DrawHistory
    scores: Mapping[int, Decimal]
    # Whether a score gap is worse than a repeat, as in Swiss draws.
    is_by_score: bool = False


def sorted_pair(player_id: int, other_id: int) -> tuple[int, int]:
    """The pair as it is looked up."""
    return min(player_id, other_id), max(player_id, other_id)


def with_meetings(past: DrawHistory, pairs: Pairs) -> DrawHistory:
    """The history of a draw that counts repeats, as if these pairs had met more often than all others."""
    if not pairs:
        return past
    meetings = {**past.meetings, **{pair: past.meetings.get(pair, 0) + MEETINGS for pair in pairs}}
    return replace(past, meetings=meetings)


def keep_apart(draw: Draw, facts: ApartFacts) -> Draw:
    """The draw with seats swapped until no swap of two seats has fewer of the pairs meet.

    Byes and sizes of groups stay. Of the swaps that help most, the one with the fewest repeats and the
    smallest gaps of scores is made. Without such a pair in a group, the draw itself.
    """
    groups = [list(group) for group in draw.groups]
    while swap := _best_swap(groups, facts):
        (at, seat), (other_at, other_seat) = swap
        groups[at][seat], groups[other_at][other_seat] = groups[other_at][other_seat], groups[at][seat]
    return replace(draw, groups=tuple(tuple(group) for group in groups))


def meeting_pairs(group: Sequence[int], pairs: Pairs) -> list[tuple[int, int]]:
    """The pairs that meet in the group."""
    return [pair for pair in combinations(sorted(group), 2) if pair in pairs]


def _best_swap(
    groups: Sequence[Sequence[int]], facts: ApartFacts
) -> tuple[tuple[int, int], tuple[int, int]] | None:
    """The places (group, seat) of the two players to swap; None where no swap separates a pair."""
    best, best_cost = None, (0, ZERO, ZERO)
    for at, group in enumerate(groups):
        held = {player_id for pair in meeting_pairs(group, facts.pairs) for player_id in pair}
        for seat, player_id in enumerate(group):
            if player_id not in held:
                continue
            for other_at, other in enumerate(groups):
                if other_at == at:
                    continue
                before = _sum(_cost(group, facts), _cost(other, facts))
                for other_seat, other_id in enumerate(other):
                    swapped = [other_id if each == player_id else each for each in group]
                    others = [player_id if each == other_id else each for each in other]
                    after = _sum(_cost(swapped, facts), _cost(others, facts))
                    change = (after[0] - before[0], after[1] - before[1], after[2] - before[2])
                    if change[0] < 0 and (best is None or change < best_cost):
                        best, best_cost = ((at, seat), (other_at, other_seat)), change
    return best


def _sum(cost: SeatCost, other: SeatCost) -> SeatCost:
    return cost[0] + other[0], cost[1] + other[1], cost[2] + other[2]


def _cost(group: Sequence[int], facts: ApartFacts) -> SeatCost:
    repeats = gaps = ZERO
    for player_id, other_id in combinations(group, 2):
        repeats += facts.past.times_met(player_id, other_id) ** 2
        gaps += (facts.scores.get(player_id, ZERO) - facts.scores.get(other_id, ZERO)) ** 2
    meet = len(meeting_pairs(group, facts.pairs))
    return (meet, gaps, repeats) if facts.is_by_score else (meet, repeats, gaps)
