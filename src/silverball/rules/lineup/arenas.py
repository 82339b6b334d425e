"""Assignment of arenas to groups. Source: formats, section 7.

A round has as many waves as games per round. In a wave each arena serves at most one group, and a group
never gets the same arena twice in a round. None stands for an arena that is assigned later.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import TypeAlias

from silverball.rules.pairing import matching

Group: TypeAlias = Sequence[int]
Plays: TypeAlias = Mapping[int, Mapping[int, int]]
Lineup: TypeAlias = tuple[int | None, ...]
# (group, arena id) -> cost.
CostOf: TypeAlias = Callable[[Group, int], int]

WAVES_MAX = 100


@dataclass(frozen=True)
class DrawableArena:
    """An active arena of the tournament, as a draw sees it."""

    arena_id: int
    is_preferred: bool = False
    category_id: int | None = None


@dataclass(frozen=True)
class DrawableBank:
    """A bank with its arenas in playing order."""

    bank_id: int
    arena_ids: tuple[int, ...]


@dataclass(frozen=True)
class BankLineup:
    """The bank of a group (None when there are no banks) and one arena per wave."""

    bank_id: int | None
    arenas: Lineup


@dataclass
class _RoundAssignment:
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

    Takes the groups as player ids, the active arenas and player id -> arena id -> plays (for
    `balanced_series` summed over the series). With too few arenas, as many groups as possible get one.
    Raises ValueError below 1 or above 100 waves. Source: formats, section 7.
    """
    return _assign_waves(groups, [arenas] * _check_waves(waves), plays, dice)


def assign_random(
    groups: Sequence[Group], arenas: Sequence[DrawableArena], *, waves: int, dice: Random
) -> list[Lineup]:
    """One random arena per group and wave. Takes and raises as `assign_balanced`. Source: formats, 7."""
    neutral = [DrawableArena(arena.arena_id) for arena in arenas]
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
    ]
    pairs = matching.cheapest_pairs(len(groups) + len(copies), edges)
    bank_of = {group_order[node]: copies[bank_order[other - len(groups)]] for node, other in pairs}
    return [BankLineup(bank_of[at].bank_id, bank_arenas(bank_of[at], waves)) for at in range(len(groups))]


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
    eligible = [arena for arena in arenas if arena.arena_id not in set(excluded)]
    drawn = [eligible[at] for at in _random_order(len(eligible), dice)]
    if not drawn:
        return None
    best = min(drawn, key=lambda arena: (arena_cost(plays, group, arena.arena_id), not arena.is_preferred))
    return best.arena_id


def _assign_waves(
    groups: Sequence[Group], arenas_by_wave: Sequence[Sequence[DrawableArena]], plays: Plays, dice: Random
) -> list[Lineup]:
    counted = {player_id: dict(counts) for player_id, counts in plays.items()}
    assigned = _RoundAssignment(groups, counted, [[] for _ in groups])
    for arenas in arenas_by_wave:
        assigned.add_wave(
            _draw_wave(assigned, arenas, lambda group, arena_id: arena_cost(counted, group, arena_id), dice)
        )
    return [tuple(given) for given in assigned.arenas_by_group]


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
            if arena.arena_id not in assigned.arenas_by_group[at]:
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
