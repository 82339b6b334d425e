"""Costs of whole groups and draws, to compare draws with vectors and with each other."""

from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from typing import TypeAlias

from silverball.rules.drawing import swiss
from silverball.rules.drawing.balanced import SeatingCosts
from silverball.rules.drawing.groups import Draw
from silverball.rules.drawing.history import DrawHistory

Pairs: TypeAlias = tuple[tuple[int, int], ...]


def all_pairings(players: Sequence[int]) -> Iterator[Pairs]:
    """Every way to pair an even number of players, the lower id first in each pair."""
    if not players:
        yield ()
        return
    first, *rest = sorted(players)
    for opponent in rest:
        for pairs in all_pairings([player for player in rest if player != opponent]):
            yield ((first, opponent), *pairs)


def sorted_pairs(draw: Draw) -> Pairs:
    return tuple(sorted((min(pair), max(pair)) for pair in draw.groups))


def group_cost(group: Sequence[int], past: DrawHistory, everybody: Sequence[int]) -> int:
    """Cost of one group of player ids, in group order, among everybody in the draw.

    A short group costs the squares of twice its members' short groups; a repeat costs its square and
    all earlier meetings of the first of the two outside the group. Source: formats, section 6.3.
    """
    table = SeatingCosts(everybody, past)
    index = {player_id: at for at, player_id in enumerate(everybody)}
    return table.cost_of_group([index[player_id] for player_id in group])


def penalty_total(scores: Mapping[int, Decimal], past: DrawHistory, draw: Draw, *, rounds: int) -> int:
    """Sum of the penalties of a draw, to check or compare it. Source: formats, section 6.5."""
    numbers = swiss.score_groups(scores, rounds)
    penalties = swiss.Penalties(max(numbers.values()), len(scores))
    counted = penalties.repeats_counted
    paid = [
        penalties.pair_penalty(
            numbers[player_id], numbers[opponent_id], past.times_met(player_id, opponent_id), counted
        )
        for player_id, opponent_id in draw.groups
    ]
    return sum(paid) + sum(penalties.bye_penalty(numbers[player_id]) for player_id in draw.byes)
