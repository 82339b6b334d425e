"""Swiss draws: players with equal scores meet at random. Source: formats, sections 6.4 and 6.6."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from itertools import accumulate, groupby, pairwise
from random import Random

from silverball.rules.pairing import balanced, groups, random_draw, seating
from silverball.rules.pairing.groups import Draw, Group
from silverball.rules.pairing.history import DrawHistory

# Draws with groups of three at any level are begun this often, and the cheapest is taken.
SPREAD_STARTS = 16
# Swaps that the cheapest of them gets in the end, of those allowed for a draw.
LAST_SWAPS = 4_000
# Nobody should be in more threes than another by more than this.
AHEAD_MAX = 2
AHEAD_COST = 2**20


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


def draw_groups(
    scores: Mapping[int, Decimal], past: DrawHistory, dice: Random, *, keeps_threes_low: bool = False
) -> Draw:
    """Groups of neighbours in the table; equal scores swap seats to avoid repeats.

    Takes player id -> score (higher is better; strikes negated). Groups of three are where their players
    have been in the fewest, at the lowest level of those; who would be three ahead of somebody who played
    all rounds leaves the three to a near player. With `keeps_threes_low` (strikes) they are at the bottom
    of the table, unless somebody would be in a second one before others were in one. Group formats play
    `strictswiss` the same way. At most 20,000 swaps are tried. Source: formats, section 6.6.
    """
    if not scores:
        return Draw(())
    sizes = groups.group_sizes(len(scores))
    player_ids = sorted(scores)
    table = seating.SeatingCosts(player_ids, past)
    index = {player_id: at for at, player_id in enumerate(player_ids)}
    classes = [[index[player_id] for player_id in members] for members in _score_groups(scores)]
    if keeps_threes_low or not has_choice_of_threes(sizes):
        low = _seat_neighbours(table, classes, dice, lambda _order: sizes, balanced.SWAPS_MAX)
        if not has_choice_of_threes(sizes) or not _repeats_a_three_too_soon(low, past):
            return Draw(low.player_groups())
    counts = [past.short_groups.get(player_id, 0) for player_id in player_ids]
    regulars = _players_of_all_rounds(player_ids, past)
    table.short_group_cost = costs = short_group_costs(counts, min(counts[player] for player in regulars))
    tries = (balanced.SWAPS_MAX - LAST_SWAPS) // SPREAD_STARTS
    drawn = [
        _seat_neighbours(
            table, classes, dice, lambda order: spread_threes([costs[player] for player in order]), tries
        )
        for _ in range(SPREAD_STARTS)
    ]
    cheapest = min(drawn, key=lambda seated: seated.cost_total)
    _relieve_those_ahead(cheapest, counts, regulars, [scores[player_id] for player_id in player_ids])
    seating.improve_by_swaps(cheapest, LAST_SWAPS, dice, classes=classes)
    # Fours first, as in every draw.
    return Draw(tuple(sorted(cheapest.player_groups(), key=len, reverse=True)))


def has_choice_of_threes(sizes: Sequence[int]) -> bool:
    """Whether there are fours and threes, so that the threes may be at any level."""
    return set(sizes) == {groups.GROUP_SIZE, groups.GROUP_SIZE - 1}


def short_group_costs(counts: Sequence[int], fewest: int) -> list[int]:
    """The cost of each player in another three, from the number of their threes: (2 x threes) squared.

    Who would be three ahead of the fewest costs so much that there is hardly a cheaper way.
    """
    return [(2 * count) ** 2 + (AHEAD_COST if count - fewest >= AHEAD_MAX else 0) for count in counts]


def _players_of_all_rounds(player_ids: Sequence[int], past: DrawHistory) -> list[int]:
    """The indices of those who have played the most rounds: a four is three meetings, a three two."""
    played = Counter(past.short_groups)
    for pair, times in past.meetings.items():
        for player_id in pair:
            played[player_id] += times
    most = max(played[player_id] for player_id in player_ids)
    return [at for at, player_id in enumerate(player_ids) if played[player_id] == most]


def _relieve_those_ahead(
    seated: seating.Seating, counts: Sequence[int], regulars: Sequence[int], scores: Sequence[Decimal]
) -> None:
    """Swap who would be three threes ahead of a regular with a near player in a four.

    Takes by index the earlier threes and the scores. If nobody in a four could take the seat, all regulars
    with the fewest threes are in one now, and nobody is ahead.
    """
    for _ in counts:
        in_threes = {player for group in seated.groups if len(group) < groups.GROUP_SIZE for player in group}
        most = min(counts[player] + (player in in_threes) for player in regulars) + AHEAD_MAX
        ahead = [player for player in sorted(in_threes) if counts[player] >= most]
        others = [player for player in range(len(counts)) if player not in in_threes]
        takers = [player for player in others if counts[player] < most]
        if not ahead or not takers:
            break
        leaver = ahead[0]
        taker = min(takers, key=lambda other: (abs(scores[other] - scores[leaver]), counts[other], other))
        seated.try_swap(leaver, taker)


def _seat_neighbours(
    table: seating.SeatingCosts,
    classes: Sequence[Sequence[int]],
    dice: Random,
    cut: Callable[[Sequence[int]], Sequence[int]],
    tries: int,
) -> seating.Seating:
    """Neighbours in groups of the sizes that `cut` chooses for the order, improved by swaps of equals.

    Takes the indices of the players in classes of equal score, best score first.
    """
    shuffled = [random_draw.random_order(members, dice) for members in classes]
    order = [player for members in shuffled for player in members]
    ends = list(accumulate(cut(order)))
    members = [order[start:end] for start, end in pairwise([0, *ends])]
    seated = seating.Seating(table, members, seating.REPEAT_WEIGHT)
    seating.improve_by_swaps(seated, tries, dice, classes=shuffled)
    return seated


def _repeats_a_three_too_soon(seated: seating.Seating, past: DrawHistory) -> bool:
    """Whether somebody is in a second three while another player of the draw stays without any."""
    listed = seated.player_groups()
    in_threes = {player_id for group in listed if len(group) < groups.GROUP_SIZE for player_id in group}
    others = {player_id for group in listed for player_id in group} - in_threes
    return any(past.short_groups.get(player_id) for player_id in in_threes) and any(
        not past.short_groups.get(player_id) for player_id in others
    )


def spread_threes(costs: Sequence[int]) -> tuple[int, ...]:
    """The sizes of the groups, best group first, with the threes where they cost least.

    Takes the costs of the players in a three, in the order of the table. Of equal costs the lowest level
    is taken. Source: formats, section 6.6.
    """
    sizes = groups.group_sizes(len(costs))
    if not has_choice_of_threes(sizes):
        return sizes
    threes = sizes.count(groups.GROUP_SIZE - 1)
    # The cheapest sizes of the last groups, by the number of threes among them.
    cheapest: list[tuple[int, tuple[int, ...]] | None] = [(0, ()), *[None] * threes]
    for left in range(1, len(sizes) + 1):
        cheapest = [_with_one_group_more(cheapest, costs, left, count) for count in range(threes + 1)]
    best = cheapest[threes]
    assert best is not None
    return best[1]


def _with_one_group_more(
    cheapest: Sequence[tuple[int, tuple[int, ...]] | None], costs: Sequence[int], left: int, threes: int
) -> tuple[int, tuple[int, ...]] | None:
    """The cheapest sizes of this many last groups with this many threes; None when there are none."""
    if threes > left:
        return None
    start = len(costs) - groups.GROUP_SIZE * left + threes
    options = []
    four, three = cheapest[threes], cheapest[threes - 1] if threes else None
    if four is not None:
        options.append((four[0], (groups.GROUP_SIZE, *four[1])))
    if three is not None:
        cost = sum(costs[max(start, 0) : start + groups.GROUP_SIZE - 1])
        options.append((three[0] + cost, (groups.GROUP_SIZE - 1, *three[1])))
    # The first of equals has the four above, so its threes are lower.
    return min(options, key=lambda option: option[0]) if options else None
