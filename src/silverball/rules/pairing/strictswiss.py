"""Strict Swiss: the exact draw with the fewest repeats and the fairest opponents. Source: formats, 6.5."""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from random import Random

from msgspec import Struct

from silverball.rules.pairing import matching, random_draw, score_candidates
from silverball.rules.pairing.groups import Draw
from silverball.rules.pairing.history import DrawHistory
from silverball.rules.pairing.score_candidates import ScoreField

REPEATS_MAX = 12
WHOLE_STEP = Decimal(1)
HALF_STEP = Decimal("0.5")


class Penalties(Struct, frozen=True):
    """Penalties of pairs and byes; `top_group` is the best score group, the worst is 0."""

    top_group: int
    player_count: int

    @property
    def repeat_step(self) -> int:
        """A penalty above all score mismatches of a round together."""
        return (self.top_group + 1) * (self.top_group + 1) ** 2 * self.games_per_round

    @property
    def games_per_round(self) -> int:
        """Games of a round, a bye included."""
        return (self.player_count + 1) // 2

    @property
    def repeats_counted(self) -> int:
        """The largest number of repeats whose penalty the matching can represent."""
        for repeats in range(REPEATS_MAX, 1, -1):
            if (
                self._repeat_penalty(self.top_group, repeats) + self._mismatch_penalty_max()
                < matching.COST_LIMIT
            ):
                return repeats
        return 1

    def _mismatch_penalty_max(self) -> int:
        return self.top_group * (self.top_group + 1) ** 2

    def _repeat_penalty(self, higher_group: int, repeats: int) -> int:
        return int((higher_group + 1) ** 2 * self.repeat_step * self.games_per_round ** (repeats - 1))

    def pair_penalty(self, group: int, other_group: int, times_met: int, repeats_counted: int) -> int:
        """Penalty of a pair: repeats above all, then the score mismatch, which costs more at the top."""
        higher = max(group, other_group)
        mismatch = abs(group - other_group) * (higher + 1) ** 2
        if times_met == 0:
            return mismatch
        return mismatch + self._repeat_penalty(higher, min(times_met, repeats_counted))

    def bye_penalty(self, group: int) -> int:
        """Penalty of a bye, which costs more further up the table."""
        return int((group + 1) ** 3)


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


def draw_pairs(scores: Mapping[int, Decimal], past: DrawHistory, dice: Random, *, rounds: int) -> Draw:
    """The pairs with the smallest sum of penalties; the minimum is exact.

    Takes player id -> score (higher is better; strikes negated) and the rounds played. A repeat is worse
    than any mismatch of scores. The bye goes to the lowest player whose byes are not the most of all.
    Source: formats, section 6.5; TournamentUtils.
    """
    order = random_draw.random_order(sorted(scores), dice)
    numbers = score_groups(scores, rounds)
    group_of = [numbers[player_id] for player_id in order]
    pairs = None
    if len(order) > matching.PLAYERS_UNPRUNED_MAX:
        pairs = score_candidates.cheapest_pairs(score_field(order, group_of, past))
    if pairs is None:
        pairs = exact_pairs(order, group_of, past)
    bye_at = len(order)
    pairs_of_ids = tuple(
        (order[node], order[other_node]) for node, other_node in pairs if other_node != bye_at
    )
    return Draw(pairs_of_ids, tuple(order[node] for node, other_node in pairs if other_node == bye_at))


def exact_pairs(order: Sequence[int], group_of: Sequence[int], past: DrawHistory) -> list[matching.Pair]:
    """The cheapest of all pairs, as nodes numbered as in this order; the bye is the node after the last.

    Takes player ids and the score group of each.
    """
    costs = _pair_costs(order, group_of, past)
    if len(order) % 2:
        _add_bye(costs, order, group_of, past)
    return matching.cheapest_pairs(len(costs), matching.all_edges(costs))


def score_field(order: Sequence[int], group_of: Sequence[int], past: DrawHistory) -> ScoreField:
    node_of = {player_id: node for node, player_id in enumerate(order)}
    met: dict[int, set[int]] = {}
    for player_id, opponent_id in past.meetings:
        if player_id in node_of and opponent_id in node_of:
            node, other = node_of[player_id], node_of[opponent_id]
            met.setdefault(node, set()).add(other)
            met.setdefault(other, set()).add(node)
    penalties = Penalties(max(group_of), len(order))
    return ScoreField(
        group_of,
        met,
        lambda group, other_group: penalties.pair_penalty(group, other_group, 0, 0),
        _bye_penalties(order, group_of, past) if len(order) % 2 else {},
    )


def _pair_costs(order: Sequence[int], group_of: Sequence[int], past: DrawHistory) -> list[list[int]]:
    penalties = Penalties(max(group_of, default=0), len(order))
    counted = penalties.repeats_counted
    known: dict[tuple[int, int, int], int] = {}
    costs: list[list[int]] = []
    for group, shared in zip(group_of, past.meeting_matrix(order), strict=True):
        row: list[int] = []
        for key in zip([group] * len(order), group_of, shared, strict=True):
            if key not in known:
                known[key] = penalties.pair_penalty(*key, counted)
            row.append(known[key])
        costs.append(row)
    return costs


def _add_bye(
    costs: list[list[int]], order: Sequence[int], group_of: Sequence[int], past: DrawHistory
) -> None:
    """Add the bye as a last node."""
    penalties = _bye_penalties(order, group_of, past)
    bye_costs = [penalties.get(node, matching.NO_EDGE) for node in range(len(order))]
    for row, cost in zip(costs, bye_costs, strict=True):
        row.append(cost)
    costs.append([*bye_costs, 0])


def _bye_penalties(order: Sequence[int], group_of: Sequence[int], past: DrawHistory) -> dict[int, int]:
    """Node -> penalty of a bye; without the players with the most byes unless all have equally many."""
    byes = [past.bye_count(player_id) for player_id in order]
    penalties = Penalties(max(group_of), len(order))
    return {
        node: penalties.bye_penalty(group)
        for node, (group, count) in enumerate(zip(group_of, byes, strict=True))
        if count < max(byes) or min(byes) == max(byes)
    }
