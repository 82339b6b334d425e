"""Draws with as few repeated opponents as possible. Source: formats, sections 6.2, 6.3 and 6.8."""

from collections import Counter
from collections.abc import Sequence
from itertools import combinations
from random import Random
from typing import TypeAlias

from silverball.rules.drawing import groups, history, matching
from silverball.rules.drawing.groups import GROUP_SIZE, Draw, Group
from silverball.rules.drawing.history import DrawHistory

# Random draws. Source: formats, section 6.1.


def random_order(player_ids: Sequence[int], dice: Random) -> list[int]:
    """The player ids in random order, as a new list."""
    return dice.sample(player_ids, len(player_ids))


def draw_bye(player_ids: Sequence[int], past: DrawHistory, dice: Random) -> int | None:
    """The player with the bye, drawn among those with the fewest byes; None for an even number.

    Source: formats, section 6.1.
    """
    if len(player_ids) % 2 == 0:
        return None
    return dice.choice(history.players_with_fewest_byes(player_ids, past))


def draw_random_pairs(player_ids: Sequence[int], past: DrawHistory, dice: Random) -> Draw:
    """Random pairs; with an odd number the bye is drawn among those with the fewest byes.

    Source: formats, section 6.1.
    """
    bye = draw_bye(player_ids, past, dice)
    playing = [player_id for player_id in player_ids if player_id != bye]
    return Draw(groups.pair_neighbours(random_order(playing, dice)).groups, () if bye is None else (bye,))


def draw_random_groups(player_ids: Sequence[int], dice: Random) -> Draw:
    """Random groups of four and three, fours first. Source: formats, sections 3 and 6.1."""
    return Draw(groups.slice_into_groups(random_order(player_ids, dice)))


# Search for groups of four: costs are kept up to date while players move. Source: formats, section 6.3.


# While a seating is improved, no sum of earlier meetings may outweigh a repeat. With the plain cost a swap
# may gain by heaping repeats on players who met few others, and the round ends with more repeats.
REPEAT_WEIGHT = 2**20


class SeatingCosts:
    """Costs of groups of players, who are known by index instead of by id."""

    def __init__(self, player_ids: Sequence[int], past: DrawHistory) -> None:
        self.player_ids = tuple(player_ids)
        self.times_met = past.meeting_matrix(player_ids)
        self.times_met_total = [sum(times_met) for times_met in self.times_met]
        self.short_group_cost = [(2 * past.short_groups.get(player_id, 0)) ** 2 for player_id in player_ids]

    def cost_of_group(self, members: Sequence[int], repeat_weight: int = 1) -> int:
        """Cost of one group of player indices, in group order.

        Short groups and repeats count `repeat_weight` times, earlier meetings of repeating players once.
        Source: formats, section 6.3 (weight 1).
        """
        repeats = outside = 0
        if 2 <= len(members) < GROUP_SIZE:
            repeats += sum(self.short_group_cost[member] for member in members)
        for at, member in enumerate(members):
            times_met = self.times_met[member]
            repeated = [times_met[other] for other in members[at + 1 :] if times_met[other]]
            if repeated:
                repeats += sum(times * times for times in repeated)
                outside += self.times_met_total[member] - sum(times_met[other] for other in members)
        return repeats * repeat_weight + outside


class Seating:
    """An assignment of players to groups, with the cost of each group."""

    def __init__(self, table: SeatingCosts, members: list[list[int]], repeat_weight: int = 1) -> None:
        self.player_costs = table
        self.groups = members
        self.repeat_weight = repeat_weight
        self.group_costs = [table.cost_of_group(group, repeat_weight) for group in members]
        self.cost_total = sum(self.group_costs)
        self.group_of = {player: at for at, group in enumerate(members) for player in group}

    def player_groups(self) -> tuple[Group, ...]:
        """The groups as player ids."""
        return tuple(tuple(self.player_costs.player_ids[member] for member in group) for group in self.groups)

    def try_swap(self, player: int, other_player: int) -> bool:
        """Let two players of different groups change seats unless that costs more; True when they did."""
        first_at, second_at = self.group_of[player], self.group_of[other_player]
        first = [other_player if member == player else member for member in self.groups[first_at]]
        second = [player if member == other_player else member for member in self.groups[second_at]]
        first_cost = self.player_costs.cost_of_group(first, self.repeat_weight)
        second_cost = self.player_costs.cost_of_group(second, self.repeat_weight)
        gain = self.group_costs[first_at] + self.group_costs[second_at] - first_cost - second_cost
        if gain < 0:
            return False
        self.groups[first_at], self.groups[second_at] = first, second
        self.group_costs[first_at], self.group_costs[second_at] = first_cost, second_cost
        self.group_of[player], self.group_of[other_player] = second_at, first_at
        self.cost_total -= gain
        return True


def best_greedy_seating(table: SeatingCosts, sizes: Sequence[int], starts: int, dice: Random) -> Seating:
    """The cheapest of several greedy seatings; one without cost ends the search.

    Takes the group sizes and the number of starts (at least 1). Source: formats, section 6.3.
    """
    best = Seating(table, seat_greedily(table, sizes, dice))
    for _ in range(starts - 1):
        if best.cost_total == 0:
            break
        candidate = Seating(table, seat_greedily(table, sizes, dice))
        if candidate.cost_total < best.cost_total:
            best = candidate
    return best


def seat_greedily(table: SeatingCosts, sizes: Sequence[int], dice: Random) -> list[list[int]]:
    """Groups of player indices, each player seated where it costs least; the later group wins ties.

    Source: formats, section 6.3.
    """
    order = dice.sample(range(len(table.player_ids)), len(table.player_ids))
    filling = _GreedySeating(table, sizes)
    for player in order:
        filling.seat(player)
    return filling.groups


class _GreedySeating:
    """A seating in progress. `outside`: each player's meetings with players outside their group."""

    def __init__(self, table: SeatingCosts, sizes: Sequence[int]) -> None:
        self.player_costs = table
        self.sizes = sizes
        self.groups: list[list[int]] = [[] for _ in sizes]
        self.open_groups = list(range(len(sizes)))
        self.outside = list(table.times_met_total)
        self.has_repeat = [False] * len(table.player_ids)

    def seat(self, player: int) -> None:
        at = self._cheapest_group(player)
        group = self.groups[at]
        times_met = self.player_costs.times_met[player]
        for member in group:
            if times_met[member]:
                self.has_repeat[member] = True
                self.outside[member] -= times_met[member]
                self.outside[player] -= times_met[member]
        group.append(player)
        if len(group) == self.sizes[at]:
            self.open_groups.remove(at)

    def _cheapest_group(self, player: int) -> int:
        cheapest_at, cheapest = -1, 0
        for at in reversed(self.open_groups):
            cost = self._cost_increase(player, at)
            if cheapest_at < 0 or cost < cheapest:
                cheapest_at, cheapest = at, cost
                if cost == 0:
                    break
        return cheapest_at

    def _cost_increase(self, player: int, at: int) -> int:
        """The cost that a player adds to a group; the later of two who met pays nothing."""
        is_short = 2 <= self.sizes[at] < GROUP_SIZE
        cost = self.player_costs.short_group_cost[player] if is_short else 0
        times_met = self.player_costs.times_met[player]
        for member in self.groups[at]:
            times = times_met[member]
            if times:
                others = 0 if self.has_repeat[member] else self.outside[member]
                cost += times * times + others - times
        return cost


def improve_by_swaps(seated: Seating, tries: int, dice: Random, *, classes: Sequence[Sequence[int]]) -> None:
    """Swap players of different groups while the cost does not rise, at most `tries` times.

    Takes the player indices in classes: only players of one class change seats. A swap at equal cost is
    made too, which leads out of dead ends. Source: formats, section 6.3 (and 6.6 for classes).
    """
    class_of = {player: members for members in classes for player in members}
    costly = _costly_groups(seated)
    for _ in range(tries):
        if not costly:
            return
        player = dice.choice(seated.groups[dice.choice(costly)])
        other_player = dice.choice(class_of[player])
        if seated.group_of[player] == seated.group_of[other_player]:
            continue
        if seated.try_swap(player, other_player):
            costly = _costly_groups(seated)


def _costly_groups(seated: Seating) -> list[int]:
    return [at for at, cost in enumerate(seated.group_costs) if cost]


# Small fields: the exact minimum, group by group, as the one with the player who is seated first is chosen.


# The groups that may be formed from sixteen players are 1,820; the search looks at some 100,000 seats.
PLAYERS_EXACT_MAX = 16
# The players of a group as bits, their indices and the cost.
CostedGroup: TypeAlias = tuple[int, tuple[int, ...], int]


def cheapest_seating(table: SeatingCosts, sizes: Sequence[int], bound: int) -> list[list[int]] | None:
    """The groups with the smallest sum of costs, or None if that is not below the bound.

    Repeats weigh as in an improved seating. Of players seated already only who they are matters, so of
    several ways to seat the same players the cheapest is kept.
    """
    groups_of = _groups_by_first_player(table, sizes)
    # Players seated as bits -> cost and groups.
    seated: dict[int, tuple[int, tuple[tuple[int, ...], ...]]] = {0: (0, ())}
    for _ in sizes:
        longer: dict[int, tuple[int, tuple[tuple[int, ...], ...]]] = {}
        for players, (cost, chosen) in seated.items():
            left = Counter(sizes) - Counter(map(len, chosen))
            first = (~players & (players + 1)).bit_length() - 1
            for bits, group, group_cost in groups_of[first]:
                total = cost + group_cost
                if total >= bound:
                    break
                if players & bits or not left[len(group)]:
                    continue
                known = longer.get(players | bits)
                if known is None or total < known[0]:
                    longer[players | bits] = total, (*chosen, group)
        seated = longer
    found = next(iter(seated.values()), None)
    return None if found is None else [list(group) for group in found[1]]


def _groups_by_first_player(table: SeatingCosts, sizes: Sequence[int]) -> list[list[CostedGroup]]:
    """By player: the groups in which they have the lowest index, cheapest first."""
    players = range(len(table.player_ids))
    costed: list[list[CostedGroup]] = [[] for _ in players]
    for size in sorted(set(sizes)):
        for group in combinations(players, size):
            cost = table.cost_of_group(group, REPEAT_WEIGHT)
            costed[group[0]].append((sum(1 << player for player in group), group, cost))
    return [sorted(own, key=lambda candidate: candidate[2]) for own in costed]


RESTARTS_MAX = 100
# Groups examined while players are seated. All restarts share this budget, so that large fields stay quick.
PLACEMENTS_MAX = 400_000
SWAPS_MAX = 20_000
# Where the exact minimum follows, swaps only bound its search.
SWAPS_SMALL = 1_000


def draw_balanced_pairs(player_ids: Sequence[int], past: DrawHistory, dice: Random) -> Draw:
    """The pairs with the smallest sum of squared repeats; the bye goes to a player with the fewest byes.

    The minimum is exact. For `balanced_series` the history holds every tournament of the series.
    Source: formats, section 6.2.
    """
    order = random_order(player_ids, dice)
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


def draw_balanced_groups(player_ids: Sequence[int], past: DrawHistory, dice: Random) -> Draw:
    """Groups of four and three with few repeats: the best of many greedy starts, improved by swaps.

    Bounded by tries: up to 100 starts (fewer for large fields), then up to 20,000 swaps. Up to 16 players
    have the fewest repeats that there can be: the minimum is exact. For `balanced_series` the history
    holds every tournament of the series. Source: formats, section 6.3.
    """
    if not player_ids:
        return Draw(())
    table = SeatingCosts(random_order(player_ids, dice), past)
    sizes = groups.group_sizes(len(player_ids))
    best = best_greedy_seating(table, sizes, _start_count(len(player_ids)), dice)
    improved = Seating(table, best.groups, REPEAT_WEIGHT)
    is_small = len(player_ids) <= PLAYERS_EXACT_MAX
    improve_by_swaps(
        improved, SWAPS_SMALL if is_small else SWAPS_MAX, dice, classes=[list(range(len(player_ids)))]
    )
    if is_small and improved.cost_total:
        cheaper = cheapest_seating(table, sizes, improved.cost_total)
        improved = improved if cheaper is None else Seating(table, cheaper, REPEAT_WEIGHT)
    return Draw(improved.player_groups())


def _start_count(players: int) -> int:
    placements = max(1, players * len(groups.group_sizes(players)))
    return max(1, min(RESTARTS_MAX, PLACEMENTS_MAX // placements))
