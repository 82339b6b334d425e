"""Swiss draws: players with equal scores meet at random. Source: formats, sections 6.4 and 6.6."""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from itertools import groupby
from random import Random

from silverball.rules.pairing import balanced, groups, random_draw, seating
from silverball.rules.pairing.groups import Draw, Group
from silverball.rules.pairing.history import DrawHistory


def draw_pairs(scores: Mapping[int, Decimal], past: DrawHistory, dice: Random) -> Draw:
    """Pairs of equal scores, best score first, each with an opponent met least often.

    Takes player id -> score (higher is better; strikes negated). A player left over in a score group is
    paired first in the next. The bye goes to one of the players with the fewest byes, whatever the score.
    Source: formats, section 6.4.
    """
    bye = random_draw.draw_bye(sorted(scores), past, dice)
    floating: list[int] = []
    pairs: list[Group] = []
    for members in _score_groups(scores):
        waiting = floating + [player for player in random_draw.random_order(members, dice) if player != bye]
        while len(waiting) > 1:
            player = waiting.pop(0)
            opponent = _draw_least_met(player, waiting, past, dice)
            waiting.remove(opponent)
            pairs.append((player, opponent))
        floating = waiting
    return Draw(tuple(pairs), () if bye is None else (bye,))


def _draw_least_met(player: int, waiting: Sequence[int], past: DrawHistory, dice: Random) -> int:
    fewest = min(past.times_met(player, opponent) for opponent in waiting)
    return dice.choice([opponent for opponent in waiting if past.times_met(player, opponent) == fewest])


def _score_groups(scores: Mapping[int, Decimal]) -> list[list[int]]:
    """Player ids grouped by score, best score first, ids ascending within a score."""
    ordered = sorted(scores, key=lambda player_id: (-scores[player_id], player_id))
    return [list(members) for _, members in groupby(ordered, key=lambda player_id: scores[player_id])]


def draw_groups(scores: Mapping[int, Decimal], past: DrawHistory, dice: Random) -> Draw:
    """Groups of neighbours in the table, fours at the top; equal scores swap seats to avoid repeats.

    Takes player id -> score (higher is better; strikes negated). Group formats play `strictswiss` the
    same way. At most 20,000 swaps are tried. Source: formats, section 6.6.
    """
    if not scores:
        return Draw(())
    shuffled = [random_draw.random_order(members, dice) for members in _score_groups(scores)]
    order = [player_id for members in shuffled for player_id in members]
    table = seating.SeatingCosts(order, past)
    seated = seating.Seating(table, _initial_groups(len(order)), seating.REPEAT_WEIGHT)
    seating.improve_by_swaps(seated, balanced.SWAPS_MAX, dice, classes=_score_classes(shuffled))
    return Draw(seated.player_groups())


def _initial_groups(players: int) -> list[list[int]]:
    return [list(group) for group in groups.slice_into_groups(range(players))]


def _score_classes(members_by_score: Sequence[Sequence[int]]) -> list[list[int]]:
    """Indices of the players with equal scores, in the order of the draw."""
    classes: list[list[int]] = []
    start = 0
    for members in members_by_score:
        classes.append(list(range(start, start + len(members))))
        start += len(members)
    return classes
