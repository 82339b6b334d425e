"""Draws with as few repeated opponents as possible. Source: formats, sections 6.2, 6.3 and 6.8."""

from collections.abc import Sequence
from random import Random

from silverball.rules.pairing import groups, history, matching, random_draw, seating
from silverball.rules.pairing.groups import Draw
from silverball.rules.pairing.history import DrawHistory

RESTARTS_MAX = 100
# Groups examined while players are seated. All restarts share this budget, so that large fields stay quick.
PLACEMENTS_MAX = 400_000
SWAPS_MAX = 20_000


def draw_pairs(player_ids: Sequence[int], past: DrawHistory, dice: Random) -> Draw:
    """The pairs with the smallest sum of squared repeats; the bye goes to a player with the fewest byes.

    The minimum is exact. For `balanced_series` the history holds every tournament of the series.
    Source: formats, section 6.2.
    """
    order = random_draw.random_order(player_ids, dice)
    shared = past.meeting_matrix(order)
    costs = [[times * times for times in row] for row in shared]
    if len(order) % 2:
        _add_bye(costs, order, past)
    bye_at = len(order)
    pairs = matching.perfect_matching(costs)
    pairs_of_ids = tuple(
        (order[node], order[other_node]) for node, other_node in pairs if other_node != bye_at
    )
    return Draw(pairs_of_ids, tuple(order[node] for node, other_node in pairs if other_node == bye_at))


def _add_bye(costs: list[list[int]], order: Sequence[int], past: DrawHistory) -> None:
    """Add the bye as a last node that only players with the fewest byes can be paired with."""
    eligible = set(history.players_with_fewest_byes(order, past))
    bye_costs = [0 if player_id in eligible else matching.NO_EDGE for player_id in order]
    for row, cost in zip(costs, bye_costs, strict=True):
        row.append(cost)
    costs.append([*bye_costs, 0])


def draw_groups(player_ids: Sequence[int], past: DrawHistory, dice: Random) -> Draw:
    """Groups of four and three with few repeats: the best of many greedy starts, improved by swaps.

    Bounded by tries: up to 100 starts (fewer for large fields), then up to 20,000 swaps. For
    `balanced_series` the history holds every tournament of the series. Source: formats, section 6.3.
    """
    if not player_ids:
        return Draw(())
    table = seating.SeatingCosts(player_ids, past)
    best = seating.best_greedy_seating(
        table, groups.group_sizes(len(player_ids)), _start_count(len(player_ids)), dice
    )
    improved = seating.Seating(table, best.groups, seating.REPEAT_WEIGHT)
    seating.improve_by_swaps(improved, SWAPS_MAX, dice, classes=[list(range(len(player_ids)))])
    return Draw(improved.player_groups())


def _start_count(players: int) -> int:
    placements = max(1, players * len(groups.group_sizes(players)))
    return max(1, min(RESTARTS_MAX, PLACEMENTS_MAX // placements))
