"""Assignment of arenas to groups. Source: formats, section 7.

A round has as many waves as games per round. In a wave each arena serves at most one group, and a group
never gets the same arena twice in a round. None stands for an arena that is assigned later.
"""

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from random import Random
from typing import TypeAlias

from msgspec import Struct, field

from silverball.rules.drawing import matching
from silverball.rules.drawing.groups import GROUP_SIZE
from silverball.rules.drawing.matching import Edge

# The waves of a round assigned together: first the arenas of each group, then their order.
#
# Which arenas a group gets does not depend on the waves: uses in which no group and no arena appears more
# often than there are waves can always be played in so many (König). So they are a flow of least cost,
# found by exchanging arenas between groups; the waves are taken out of it one after another. Source:
# formats, section 7. rustworkx is imported on first use.


# Group and arena, both numbered from 0.
Use: TypeAlias = tuple[int, int]
Costs: TypeAlias = Sequence[Sequence[int | None]]

# Sixty matches of four games on sixty arenas that most players know need about twenty.
EXCHANGES_MAX = 100


def cheapest_uses(costs: Costs, begun: Collection[Use], waves: int) -> set[Use]:
    """As many uses as possible with the smallest sum of costs, beginning with those of the exact waves.

    Takes costs by group and arena, None for an arena that the group never gets, and uses that can be
    played in so many waves. Each exchange adds a use or lowers the sum; when none is left the minimum is
    exact, and at most a hundred are made.
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


def _exchange_edges(costs: Costs, uses: set[Use], waves: int) -> list[Edge]:
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
            if cost is None:
                continue
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
    above_all_costs = 1 + 2 * sum(abs(cost) for row in costs for cost in row if cost is not None)
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


Group: TypeAlias = Sequence[int]
Plays: TypeAlias = Mapping[int, Mapping[int, int]]
Lineup: TypeAlias = tuple[int | None, ...]
# (group, arena id) -> cost.
CostOf: TypeAlias = Callable[[Group, int], int]

WAVES_MAX = 100


class DrawableArena(Struct, frozen=True):
    """An active arena of the tournament, as a draw sees it."""

    arena_id: int
    is_preferred: bool = False
    category_id: int | None = None
    # A larger group never gets it.
    players_max: int = GROUP_SIZE


class DrawableBank(Struct, frozen=True):
    """A bank with its arenas in playing order."""

    bank_id: int
    arena_ids: tuple[int, ...]
    # The fewest that one of its arenas is for.
    players_max: int = GROUP_SIZE


class BankLineup(Struct, frozen=True):
    """The bank of a group (None when there are no banks) and one arena per wave."""

    bank_id: int | None
    arenas: Lineup


class _RoundAssignment(Struct):
    """A round being assigned: the arenas of each group so far, and the plays including them."""

    groups: Sequence[Group]
    plays: dict[int, dict[int, int]]
    arenas_by_group: list[list[int | None]] = field(default_factory=list)

    def add_wave(self, arena_of: Mapping[int, int]) -> None:
        """Add a wave: group index -> arena id."""
        for at, group in enumerate(self.groups):
            arena_id = arena_of.get(at)
            self.arenas_by_group[at].append(arena_id)
            for player_id in group if arena_id is not None else ():
                counts = self.plays.setdefault(player_id, {})
                counts[arena_id or 0] = counts.get(arena_id or 0, 0) + 1


def arena_cost(plays: Plays, group: Group, arena_id: int) -> int:
    """Cost of giving an arena to a group.

    Takes player id -> arena id -> plays. A player costs the square of their plays of the arena and, when
    there are any, their plays of all other arenas. Source: formats, section 7; TournamentUtils.
    """
    total = 0
    for player_id in group:
        counts = plays.get(player_id, {})
        own = counts.get(arena_id, 0)
        if own:
            total += own * own + sum(counts.values()) - own
    return total


def assign_balanced(
    groups: Sequence[Group], arenas: Sequence[DrawableArena], plays: Plays, *, waves: int, dice: Random
) -> list[Lineup]:
    """One arena per group and wave with the smallest sum of costs; preferred arenas win ties.

    The sum over all waves is the smallest by the plays before the round, and never above that of waves
    assigned one by one when the arenas of earlier waves count as played. Takes the groups as player ids,
    the active arenas and player id -> arena id -> plays (for `balanced_series` summed over the series).
    With too few arenas, as many groups as possible get one.
    Raises ValueError below 1 or above 100 waves. Source: formats, section 7.
    """
    return _assign_waves(groups, [arenas] * _check_waves(waves), plays, dice)


def assign_random(
    groups: Sequence[Group], arenas: Sequence[DrawableArena], *, waves: int, dice: Random
) -> list[Lineup]:
    """One random arena per group and wave. Takes and raises as `assign_balanced`. Source: formats, 7."""
    neutral = [DrawableArena(arena.arena_id, players_max=arena.players_max) for arena in arenas]
    assigned = _RoundAssignment(groups, {}, [[] for _ in groups])
    for _ in range(_check_waves(waves)):
        assigned.add_wave(_draw_wave(assigned, neutral, lambda _group, _arena_id: 0, dice))
    return [tuple(given) for given in assigned.arenas_by_group]


def assign_by_category(
    groups: Sequence[Group], arenas: Sequence[DrawableArena], plays: Plays, *, waves: int, dice: Random
) -> list[Lineup]:
    """One arena of the first category in the first wave, of the second in the second, and so on.

    The categories in play are used in ascending order and start over when there are more waves; arenas
    without a category are not used. Takes and raises as `assign_balanced`. Source: formats, section 7.
    """
    categories = sorted({arena.category_id for arena in arenas if arena.category_id is not None})
    by_wave: list[Sequence[DrawableArena]] = []
    for wave in range(_check_waves(waves)):
        wanted = categories[wave % len(categories)] if categories else None
        by_wave.append([arena for arena in arenas if categories and arena.category_id == wanted])
    return _assign_waves(groups, by_wave, plays, dice)


def assign_banks(
    groups: Sequence[Group], choice: Sequence[DrawableBank], bank_plays: Plays, *, waves: int, dice: Random
) -> list[BankLineup]:
    """One bank per group, if possible one that its players have not had; groups may share a bank.

    Takes the banks and player id -> bank id -> rounds played on it. A bank serves no more groups than
    needed. Its arenas are played in order; a wave beyond the last has none. Raises as `assign_balanced`
    does. Source: formats, section 7.
    """
    if not choice:
        return [BankLineup(None, (None,) * _check_waves(waves)) for _ in groups]
    capacity = -(-len(groups) // len(choice))
    copies = [bank for bank in choice for _ in range(capacity)]
    group_order, bank_order = _random_order(len(groups), dice), _random_order(len(copies), dice)
    edges = [
        (node, len(groups) + other, arena_cost(bank_plays, groups[at], copies[bank_at].bank_id))
        for node, at in enumerate(group_order)
        for other, bank_at in enumerate(bank_order)
        if len(groups[at]) <= copies[bank_at].players_max
    ]
    pairs = matching.cheapest_pairs(len(groups) + len(copies), edges)
    bank_of = {group_order[node]: copies[bank_order[other - len(groups)]] for node, other in pairs}
    return [
        BankLineup(bank_of[at].bank_id, bank_arenas(bank_of[at], waves))
        if at in bank_of
        else BankLineup(None, (None,) * waves)
        for at in range(len(groups))
    ]


def bank_arenas(bank: DrawableBank, waves: int) -> Lineup:
    """The arenas of a bank by wave, in its order; None beyond its end. Source: formats, section 7."""
    missing = max(0, _check_waves(waves) - len(bank.arena_ids))
    return (*bank.arena_ids[:waves], *[None] * missing)


def draw_replacement(
    group: Group, arenas: Sequence[DrawableArena], plays: Plays, excluded: Sequence[int], dice: Random
) -> int | None:
    """Another arena for a group, for instance after a malfunction: one of the cheapest, or None.

    Takes the free active arenas and the arena ids to leave out (the broken arena and those that the
    group has in this round). Source: formats, section 7.
    """
    eligible = [
        arena for arena in arenas if arena.arena_id not in set(excluded) and len(group) <= arena.players_max
    ]
    drawn = [eligible[at] for at in _random_order(len(eligible), dice)]
    if not drawn:
        return None
    best = min(drawn, key=lambda arena: (arena_cost(plays, group, arena.arena_id), not arena.is_preferred))
    return best.arena_id


def played_cost(groups: Sequence[Group], lineups: Sequence[Lineup], plays: Plays) -> int:
    """Cost of a round's arenas as they are played: those of earlier waves count as played in later ones."""
    played = _RoundAssignment(groups, _copy_plays(plays), [[] for _ in groups])
    total = 0
    for arena_ids in zip(*lineups, strict=True):
        wave = {at: arena_id for at, arena_id in enumerate(arena_ids) if arena_id is not None}
        total += sum(arena_cost(played.plays, groups[at], arena_id) for at, arena_id in wave.items())
        played.add_wave(wave)
    return total


def _copy_plays(plays: Plays) -> dict[int, dict[int, int]]:
    return {player_id: dict(counts) for player_id, counts in plays.items()}


def _assign_waves(
    groups: Sequence[Group], arenas_by_wave: Sequence[Sequence[DrawableArena]], plays: Plays, dice: Random
) -> list[Lineup]:
    """One arena per group and wave: each wave exactly, then the waves that share arenas together."""
    exact = assign_one_by_one(groups, arenas_by_wave, plays, dice)
    waves_of: dict[tuple[DrawableArena, ...], list[int]] = {}
    for wave, arenas in enumerate(arenas_by_wave):
        waves_of.setdefault(tuple(arenas), []).append(wave)
    together = exact
    for arenas_shared, waves in waves_of.items():
        if len(waves) > 1 and arenas_shared and groups:
            together = _assign_together(groups, together, waves, arenas_shared, plays, dice)
    return min(
        (exact, together),
        key=lambda lineups: (
            sum(lineup.count(None) for lineup in lineups),
            played_cost(groups, lineups, plays),
        ),
    )


def assign_one_by_one(
    groups: Sequence[Group], arenas_by_wave: Sequence[Sequence[DrawableArena]], plays: Plays, dice: Random
) -> list[Lineup]:
    """One arena per group and wave, the cheapest of each wave, without a look at the waves after it."""
    counted = _copy_plays(plays)
    assigned = _RoundAssignment(groups, counted, [[] for _ in groups])
    for arenas in arenas_by_wave:
        assigned.add_wave(
            _draw_wave(assigned, arenas, lambda group, arena_id: arena_cost(counted, group, arena_id), dice)
        )
    return [tuple(given) for given in assigned.arenas_by_group]


def _assign_together(
    groups: Sequence[Group],
    lineups: Sequence[Lineup],
    waves: Sequence[int],
    arenas: Sequence[DrawableArena],
    plays: Plays,
    dice: Random,
) -> list[Lineup]:
    """The same lineups with these waves assigned together; their sum of costs is the smallest."""
    group_order, arena_order = _random_order(len(groups), dice), _random_order(len(arenas), dice)
    drawn = [arenas[at] for at in arena_order]
    node_of = {arena.arena_id: node for node, arena in enumerate(drawn)}
    # Preferred arenas win ties of the sum and nothing else.
    scale = 1 + len(groups) * len(waves)
    costs = [
        [
            scale * arena_cost(plays, groups[at], arena.arena_id) - arena.is_preferred
            if len(groups[at]) <= arena.players_max
            else None
            for arena in drawn
        ]
        for at in group_order
    ]
    begun = {
        (node, node_of[arena_id])
        for node, at in enumerate(group_order)
        for arena_id in (lineups[at][wave] for wave in waves)
        if arena_id is not None
    }
    uses = cheapest_uses(costs, begun, len(waves))
    known = {
        (node, other): sum(
            plays.get(player_id, {}).get(drawn[other].arena_id, 0) > 0
            for player_id in groups[group_order[node]]
        )
        for node, other in uses
    }
    given = [list(lineup) for lineup in lineups]
    for wave, arena_of in zip(waves, order_uses(uses, len(waves), known), strict=True):
        for node, at in enumerate(group_order):
            given[at][wave] = drawn[arena_of[node]].arena_id if node in arena_of else None
    return [tuple(arena_ids) for arena_ids in given]


def _draw_wave(
    assigned: _RoundAssignment, arenas: Sequence[DrawableArena], cost_of: CostOf, dice: Random
) -> dict[int, int]:
    """Group index -> arena id of one wave; groups and arenas are numbered in random order."""
    group_count = len(assigned.groups)
    group_order, arena_order = _random_order(group_count, dice), _random_order(len(arenas), dice)
    edges: list[matching.Edge] = []
    for node, at in enumerate(group_order):
        for other, arena_at in enumerate(arena_order):
            arena = arenas[arena_at]
            is_large_enough = len(assigned.groups[at]) <= arena.players_max
            if is_large_enough and arena.arena_id not in assigned.arenas_by_group[at]:
                price = 2 * cost_of(assigned.groups[at], arena.arena_id) - arena.is_preferred
                edges.append((node, group_count + other, price))
    pairs = matching.cheapest_pairs(group_count + len(arenas), edges)
    return {group_order[node]: arenas[arena_order[other - group_count]].arena_id for node, other in pairs}


def _random_order(count: int, dice: Random) -> list[int]:
    return dice.sample(range(count), count)


def _check_waves(waves: int) -> int:
    if not 1 <= waves <= WAVES_MAX:
        raise ValueError(f"{waves} waves are not between 1 and {WAVES_MAX}")
    return waves
