"""Swiss draws: players with equal scores meet at random. Source: formats, sections 6.4 and 6.6."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from decimal import Decimal
from heapq import nsmallest
from itertools import accumulate, groupby, islice, pairwise
from random import Random

from msgspec import Struct

from silverball.rules.drawing import balanced, groups, matching
from silverball.rules.drawing.groups import Draw
from silverball.rules.drawing.history import DrawHistory, players_with_fewest_byes
from silverball.rules.drawing.matching import Edge, Pair

# Draws with groups of three at any level are begun this often, and the cheapest is taken.
SPREAD_STARTS = 16
# Swaps that the cheapest of them gets in the end, of those allowed for a draw.
LAST_SWAPS = 4_000
# Nobody should be in more threes than another by more than this.
AHEAD_MAX = 2
AHEAD_COST = 2**20


# Costs of a level are above all costs of the levels below it together, so that levels never trade.
TIMES_MET_COUNTED = 12


def draw_swiss_pairs(
    scores: Mapping[int, Decimal], past: DrawHistory, dice: Random, *, rounds: int, avoids_repeats: bool
) -> Draw:
    """Pairs of scores as equal as can be, drawn among equals; nobody meets the opponent of the last round.

    Takes player id -> score (higher is better; strikes negated) and the rounds played. Those of the last
    round meet again only if no draw avoids it. With `avoids_repeats`, and among more than 300 players, no
    earlier opponents meet before it is unavoidable; without, scores come before repeats. The bye is drawn
    among those with the fewest, whatever the score, and given to another of them only to avoid a meeting.
    Source: formats, section 6.4.
    """
    bye = balanced.draw_bye(sorted(scores), past, dice)
    order = balanced.random_order(sorted(scores), dice)
    numbers = score_groups(scores, rounds)
    group_of = [numbers[player_id] for player_id in order]
    if len(order) > matching.PLAYERS_UNPRUNED_MAX:
        bye_costs = {} if bye is None else _drawn_bye_costs(order, bye, past, len(order) * max(group_of) ** 2)
        field = ScoreField(group_of, _nodes_met(order, past), _squared_gap, bye_costs, [0] * len(order))
        pairs = cheapest_pairs(field)
        if pairs is not None:
            return _draw_of_nodes(pairs, order)
    costs = _swiss_costs(order, group_of, past, bye, avoids_repeats=avoids_repeats)
    return _draw_of_nodes(matching.cheapest_pairs(len(costs), matching.all_edges(costs)), order)


def _squared_gap(group: int, other_group: int) -> int:
    return (group - other_group) ** 2


def _swiss_costs(
    order: Sequence[int], group_of: Sequence[int], past: DrawHistory, bye: int | None, *, avoids_repeats: bool
) -> list[list[int]]:
    """The cost of each pair of nodes; the bye is the last node of an odd number."""
    games = (len(order) + 1) // 2
    gap_sum, repeat_sum = games * max(group_of, default=0) ** 2, games * TIMES_MET_COUNTED**2
    if avoids_repeats:
        gap_step, bye_step = 1, 1 + gap_sum
        repeat_step = 2 * bye_step
        last_step = repeat_step * (1 + repeat_sum)
    else:
        repeat_step, gap_step = 1, 1 + repeat_sum
        bye_step = gap_step * (1 + gap_sum)
        last_step = 2 * bye_step
    costs = [
        [
            gap_step * _squared_gap(group, other_group) + repeat_step * min(times, TIMES_MET_COUNTED) ** 2
            for other_group, times in zip(group_of, shared, strict=True)
        ]
        for group, shared in zip(group_of, past.meeting_matrix(order), strict=True)
    ]
    node_of = {player_id: node for node, player_id in enumerate(order)}
    for player_id, opponent_id in past.met_last:
        if player_id in node_of and opponent_id in node_of:
            node, other = node_of[player_id], node_of[opponent_id]
            costs[node][other] += last_step
            costs[other][node] += last_step
    if bye is not None:
        _add_bye(costs, _drawn_bye_costs(order, bye, past, bye_step))
    return costs


def _drawn_bye_costs(order: Sequence[int], bye: int, past: DrawHistory, step: int) -> dict[int, int]:
    """Node -> cost of the bye, for those with the fewest: nothing for the player who was drawn."""
    eligible = set(players_with_fewest_byes(order, past))
    return {node: step * (player_id != bye) for node, player_id in enumerate(order) if player_id in eligible}


def _draw_of_nodes(pairs: Sequence[Pair], order: Sequence[int]) -> Draw:
    """The draw of these pairs of nodes; the bye is the node after the last player."""
    bye_at = len(order)
    groups_drawn = tuple((order[node], order[other]) for node, other in pairs if other != bye_at)
    return Draw(groups_drawn, tuple(order[node] for node, other in pairs if other == bye_at))


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
    table = balanced.SeatingCosts(player_ids, past)
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
    balanced.improve_by_swaps(cheapest, LAST_SWAPS, dice, classes=classes)
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
    seated: balanced.Seating, counts: Sequence[int], regulars: Sequence[int], scores: Sequence[Decimal]
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
    table: balanced.SeatingCosts,
    classes: Sequence[Sequence[int]],
    dice: Random,
    cut: Callable[[Sequence[int]], Sequence[int]],
    tries: int,
) -> balanced.Seating:
    """Neighbours in groups of the sizes that `cut` chooses for the order, improved by swaps of equals.

    Takes the indices of the players in classes of equal score, best score first.
    """
    shuffled = [balanced.random_order(members, dice) for members in classes]
    order = [player for members in shuffled for player in members]
    ends = list(accumulate(cut(order)))
    members = [order[start:end] for start, end in pairwise([0, *ends])]
    seated = balanced.Seating(table, members, balanced.REPEAT_WEIGHT)
    balanced.improve_by_swaps(seated, tries, dice, classes=shuffled)
    return seated


def _repeats_a_three_too_soon(seated: balanced.Seating, past: DrawHistory) -> bool:
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


# Candidate pairs of a large strict Swiss: players of the own score group and of its neighbours.
#
# All pairs of 2,000 players are two million, and nearly all of them lead too far up or down the table to be
# drawn. A draw starts with some partners for each player and takes more while it cannot be made, or while
# more partners still make it cheaper. Source: formats, section 6.5.


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
    # By node: what an opponent of another score costs on top.
    float_penalties: Sequence[int]


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
    several gaps costs less than its gaps do by themselves.
    """
    counts = Counter(field.group_of)
    floats: dict[int, list[int]] = defaultdict(list)
    for group, penalty in zip(field.group_of, field.float_penalties, strict=True):
        floats[group].append(penalty)
    # In a group that pairs reach over both of its gaps, two players float.
    cheapest = {group: nsmallest(2, penalties) for group, penalties in floats.items()}
    if not field.bye_penalties:
        return _gap_sum(counts, cheapest, field)
    byes: dict[int, int] = {}
    for node, cost in field.bye_penalties.items():
        group = field.group_of[node]
        byes[group] = min(cost, byes.get(group, cost))
    return min(cost + _gap_sum(counts - Counter([group]), cheapest, field) for group, cost in byes.items())


def _gap_sum(counts: Counter[int], cheapest_floats: Mapping[int, Sequence[int]], field: ScoreField) -> int:
    groups = sorted(counts, reverse=True)
    total, above = 0, 0
    floating: Counter[int] = Counter()
    for group, next_group in pairwise(groups):
        above += counts[group]
        if above % 2:
            total += field.penalty_of(group, next_group)
            floating.update((group, next_group))
    return total + sum(sum(cheapest_floats[group][:number]) for group, number in floating.items())


def candidate_edges(field: ScoreField, partners: int) -> list[Edge]:
    """One edge per candidate pair, the lower node first, sorted.

    Each player gets this many partners of each score group, nearest (least penalty) groups first, until
    three full groups' worth are found; of another group first those to whom it costs least.
    """
    members_of: dict[int, list[int]] = defaultdict(list)
    floating_of: dict[int, dict[int, list[int]]] = defaultdict(dict)
    for node, group in enumerate(field.group_of):
        members_of[group].append(node)
        floating_of[group].setdefault(field.float_penalties[node], []).append(node)
    cheapest_of = {group: [nodes for _, nodes in sorted(by.items())] for group, by in floating_of.items()}
    edges: set[Edge] = set()
    for group, members in members_of.items():
        penalties = {other: field.penalty_of(group, other) for other in members_of}
        nearest = sorted(members_of, key=penalties.__getitem__)
        for at, node in enumerate(members):
            wanted = GROUPS_AT_START * partners
            own_float, met = field.float_penalties[node], field.met.get(node, frozenset())
            for other_group in nearest:
                if wanted <= 0:
                    break
                is_own = other_group == group
                unmet = _unmet_nodes(node, at, [members] if is_own else cheapest_of[other_group], met)
                found = list(islice(unmet, partners))
                wanted -= len(found)
                for other in found:
                    on_top = 0 if is_own else own_float + field.float_penalties[other]
                    edges.add((min(node, other), max(node, other), penalties[other_group] + on_top))
    bye_at = len(field.group_of)
    edges.update((node, bye_at, cost) for node, cost in field.bye_penalties.items())
    return sorted(edges)


def _unmet_nodes(node: int, at: int, classes: Sequence[Sequence[int]], met: Set[int]) -> Iterator[int]:
    """Members not met before, class by class, from the one at the player's own place on, all around."""
    for members in classes:
        start = at % len(members)
        for other in (*members[start:], *members[:start]):
            if other != node and other not in met:
                yield other


# Strict Swiss: the exact draw with the fewest repeats and the fairest opponents. Source: formats, 6.5.


REPEATS_MAX = 12
WHOLE_STEP = Decimal(1)
HALF_STEP = Decimal("0.5")
# To float once more costs four times as much as the time before.
FLOAT_BASE = 4
FLOATS_COUNTED = 10


class Penalties(Struct, frozen=True):
    """Penalties of pairs and byes; `top_group` is the best score group, the worst is 0."""

    top_group: int
    player_count: int

    @property
    def float_unit(self) -> int:
        """How many parts a penalty of 1 has: more than the floats of a round cost together, in parts."""
        return int(1 + self.player_count * FLOAT_BASE**FLOATS_COUNTED)

    @property
    def repeat_step(self) -> int:
        """A penalty above all score mismatches of a round and its bye together."""
        return 1 + self.games_per_round * self.top_group**2 + self.bye_penalty(self.top_group)

    @property
    def games_per_round(self) -> int:
        """Games of a round, a bye included."""
        return (self.player_count + 1) // 2

    @property
    def repeats_counted(self) -> int:
        """The largest number of repeats whose penalty the matching can represent."""
        for repeats in range(REPEATS_MAX, 1, -1):
            penalty = self.pair_penalty(self.top_group, 0, repeats, repeats)
            # A game may be a float of both its players.
            if (penalty + 1) * self.float_unit < matching.COST_LIMIT:
                return repeats
        return 1

    def pair_penalty(self, group: int, other_group: int, times_met: int, repeats_counted: int) -> int:
        """Penalty of a pair: repeats above all, then the square of the score gap."""
        mismatch = _squared_gap(group, other_group)
        if times_met == 0:
            return mismatch
        repeats = min(times_met, repeats_counted)
        return int(mismatch + self.repeat_step * self.games_per_round ** (repeats - 1))

    def bye_penalty(self, group: int) -> int:
        """Penalty of a bye, which costs more further up the table."""
        return int((group + 1) ** 3)


def float_penalty(floats: int) -> int:
    """The cost of another score for a player who has had so many such opponents, in parts of a penalty."""
    return int(FLOAT_BASE ** min(floats, FLOATS_COUNTED))


def score_groups(scores: Mapping[int, Decimal], rounds: int) -> dict[int, int]:
    """Player id -> number of the score group; the worst is 0, and empty groups in between count.

    Takes player id -> score (higher is better) and the rounds played. Groups are a whole point apart,
    or half a point when any score is a fraction; empty groups beyond two per round are dropped.
    Source: formats, section 6.5.
    """
    step = WHOLE_STEP if all(score == score.to_integral_value() for score in scores.values()) else HALF_STEP
    empty_left = 2 * rounds
    numbers: dict[Decimal, int] = {}
    before: Decimal | None = None
    for score in sorted(set(scores.values())):
        if before is None:
            numbers[score] = 0
        else:
            steps = max(1, int((score - before) / step))
            empty = min(steps - 1, empty_left)
            empty_left -= empty
            numbers[score] = numbers[before] + 1 + empty
        before = score
    return {player_id: numbers[score] for player_id, score in scores.items()}


def draw_strict_swiss_pairs(
    scores: Mapping[int, Decimal], past: DrawHistory, dice: Random, *, rounds: int
) -> Draw:
    """The pairs with the smallest sum of penalties; the minimum is exact.

    Takes player id -> score (higher is better; strikes negated) and the rounds played. A repeat is worse
    than any mismatch of scores. Among equal sums those float who have floated least. The bye goes to the
    lowest player whose byes are not the most of all. Source: formats, section 6.5.
    """
    order = balanced.random_order(sorted(scores), dice)
    numbers = score_groups(scores, rounds)
    group_of = [numbers[player_id] for player_id in order]
    pairs = None
    if len(order) > matching.PLAYERS_UNPRUNED_MAX:
        pairs = cheapest_pairs(strict_field(order, group_of, past))
    if pairs is None:
        pairs = exact_pairs(order, group_of, past)
    return _draw_of_nodes(pairs, order)


def exact_pairs(order: Sequence[int], group_of: Sequence[int], past: DrawHistory) -> list[matching.Pair]:
    """The cheapest of all pairs, as nodes numbered as in this order; the bye is the node after the last.

    Takes player ids and the score group of each.
    """
    costs = _pair_costs(order, group_of, past)
    if len(order) % 2:
        _add_bye(costs, _bye_penalties(order, group_of, past))
    return matching.cheapest_pairs(len(costs), matching.all_edges(costs))


def strict_field(order: Sequence[int], group_of: Sequence[int], past: DrawHistory) -> ScoreField:
    """A field in which every cost is in parts of a penalty."""
    unit = Penalties(max(group_of), len(order)).float_unit
    byes = _bye_penalties(order, group_of, past) if len(order) % 2 else {}
    return ScoreField(
        group_of,
        _nodes_met(order, past),
        lambda own, other: unit * _squared_gap(own, other),
        byes,
        _float_penalties(order, past),
    )


def _nodes_met(order: Sequence[int], past: DrawHistory) -> dict[int, set[int]]:
    node_of = {player_id: node for node, player_id in enumerate(order)}
    met: dict[int, set[int]] = defaultdict(set)
    for player_id, opponent_id in past.meetings:
        if player_id in node_of and opponent_id in node_of:
            node, other = node_of[player_id], node_of[opponent_id]
            met[node].add(other)
            met[other].add(node)
    return met


def _float_penalties(order: Sequence[int], past: DrawHistory) -> list[int]:
    return [float_penalty(past.floats.get(player_id, 0)) for player_id in order]


def _pair_costs(order: Sequence[int], group_of: Sequence[int], past: DrawHistory) -> list[list[int]]:
    """The cost of each pair of nodes, in parts of a penalty."""
    penalties = Penalties(max(group_of, default=0), len(order))
    counted, unit = penalties.repeats_counted, penalties.float_unit
    floats = _float_penalties(order, past)
    known: dict[tuple[int, int, int], int] = {}
    costs: list[list[int]] = []
    for node, (group, shared) in enumerate(zip(group_of, past.meeting_matrix(order), strict=True)):
        row: list[int] = []
        for other, key in enumerate(zip([group] * len(order), group_of, shared, strict=True)):
            if key not in known:
                known[key] = unit * penalties.pair_penalty(*key, counted)
            row.append(known[key] + (floats[node] + floats[other] if group != key[1] else 0))
        costs.append(row)
    return costs


def _add_bye(costs: list[list[int]], bye_costs: Mapping[int, int]) -> None:
    """Add the bye as a last node. Takes node -> cost, for those who may have it."""
    column = [bye_costs.get(node, matching.NO_EDGE) for node in range(len(costs))]
    for row, cost in zip(costs, column, strict=True):
        row.append(cost)
    costs.append([*column, 0])


def _bye_penalties(order: Sequence[int], group_of: Sequence[int], past: DrawHistory) -> dict[int, int]:
    """Node -> penalty of a bye, in parts; without those with the most unless all have equally many."""
    byes = [past.bye_count(player_id) for player_id in order]
    penalties = Penalties(max(group_of), len(order))
    return {
        node: penalties.float_unit * penalties.bye_penalty(group)
        for node, (group, count) in enumerate(zip(group_of, byes, strict=True))
        if count < max(byes) or min(byes) == max(byes)
    }
