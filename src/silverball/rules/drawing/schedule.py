"""The schedule behind max match play: the meetings still to play, and those to start now.

Source: formats, section 14.5.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from random import Random
from typing import TypeAlias

from msgspec import Struct

from silverball.kit.errors import Conflict
from silverball.rules.drawing import balanced, matching
from silverball.rules.drawing.groups import Draw, Group
from silverball.rules.drawing.history import DrawHistory

# Round robins: every player meets every other. Source: formats, sections 14.8 and 14.9.


Slot: TypeAlias = int | None


def all_rounds(player_ids: Sequence[int], *, is_double: bool = False) -> list[Draw]:
    """All rounds of a round robin, by the circle method.

    Takes the player ids by seed, best first, and whether each pairing is played twice in its round, the
    second time in swapped order. An even number n makes n - 1 rounds, an odd n makes n rounds with one
    bye each. Each player is listed first in half of their games, give or take one. Fewer than two
    players have no rounds. Source: formats, sections 14.8 and 14.9; TournamentUtils.
    """
    if len(player_ids) < 2:
        return []
    # The opponent of the dummy has the bye.
    dummy: list[Slot] = [None] if len(player_ids) % 2 else []
    circle: list[Slot] = [*dummy, *player_ids]
    half = len(circle) // 2
    top, bottom = circle[:half], circle[half:][::-1]
    rounds: list[Draw] = []
    for number in range(1, len(circle)):
        rounds.append(_round_draw(top, bottom, is_odd=number % 2 == 1, is_double=is_double))
        top, bottom = _rotate(top, bottom)
    return rounds


def _rotate(top: Sequence[Slot], bottom: Sequence[Slot]) -> tuple[list[Slot], list[Slot]]:
    """Move all players but the first of the top row one seat along the circle."""
    if len(top) == 1:
        return list(top), list(bottom)
    return [top[0], bottom[0], *top[1:-1]], [*bottom[1:], top[-1]]


def _round_draw(top: Sequence[Slot], bottom: Sequence[Slot], *, is_odd: bool, is_double: bool) -> Draw:
    groups: list[Group] = []
    byes: list[int] = []
    for at, (top_id, bottom_id) in enumerate(zip(top, bottom, strict=True)):
        first, second = (bottom_id, top_id) if is_odd and at == 0 else (top_id, bottom_id)
        if first is None or second is None:
            byes += [player_id for player_id in (first, second) if player_id is not None]
            continue
        groups += [(first, second), (second, first)] if is_double else [(first, second)]
    return Draw(tuple(groups), tuple(byes))


def groups_by_seed(player_ids: Sequence[int], group_size: int) -> list[Group]:
    """The groups of a round robin in groups ("WCS style"), best seeds first in each.

    Takes the player ids by seed and `roundRobinGroupSize` (0 for a single group). The best seeds head the
    groups; each following batch of seeds is dealt from the last group back to the first, and so is the
    remainder. 16 players in fours: 1, 8, 12, 16 and so on.
    Source: formats, section 14.8; TournamentUtils.
    """
    if not player_ids:
        return []
    group_count = max(1, len(player_ids) // group_size) if group_size else 1
    dealt: list[list[int]] = [[player_id] for player_id in player_ids[:group_count]]
    for at, player_id in enumerate(player_ids[group_count:]):
        dealt[group_count - 1 - at % group_count].append(player_id)
    return [tuple(members) for members in dealt]


Meeting: TypeAlias = tuple[int, int]

SWAPS_MAX = 20_000
# Enough to try every two meetings of a usual rest of a schedule several times.
SWAPS_PER_MEETING = 200
PLAYS_COUNTED = 16


class OddSchedule(Conflict):
    """An odd number of players cannot play an odd number of games each."""

    sentence = (
        "{player_count} players cannot play {games_each} games each: one of them would be left "
        "without an opponent. Choose an even number of games or add a player."
    )


class FreePlayer(Struct, frozen=True):
    """A player without a game now: games started or completed, and the turn (the smallest waits longest)."""

    player_id: int
    games: int
    turn: int


class RebuiltSchedule(Struct, frozen=True):
    """Meetings still to play, and player id -> walkovers for the games without an opponent."""

    meetings: tuple[Meeting, ...]
    walkovers: Mapping[int, int]


def regular_schedule(player_ids: Sequence[int], games_per_player: int, dice: Random) -> list[Meeting]:
    """Meetings that give each player the same number of games, repeats spread evenly.

    Each pair meets floor or ceil of games / (players - 1) times. Players are seated by the dice. Fewer
    than two players have no meetings. Raises OddSchedule when both numbers are odd.
    Source: formats, section 14.5.
    """
    if len(player_ids) % 2 and games_per_player % 2:
        raise OddSchedule(player_count=len(player_ids), games_each=games_per_player)
    if len(player_ids) < 2:
        return []
    seats = balanced.random_order(player_ids, dice)
    rounds_full, games_left = divmod(games_per_player, len(seats) - 1)
    circle = [draw.groups for draw in all_rounds(seats)]
    full_round = [(player_id, opponent_id) for pairs in circle for player_id, opponent_id in pairs]
    if len(seats) % 2:
        return full_round * rounds_full + _ring_meetings(seats, games_left)
    partial = [(player_id, opponent_id) for pairs in circle[:games_left] for player_id, opponent_id in pairs]
    return full_round * rounds_full + partial


def _ring_meetings(seats: Sequence[int], games_each: int) -> list[Meeting]:
    """Meetings of neighbours on a ring: an even number of games for an odd number of players."""
    distances = range(1, games_each // 2 + 1)
    return [
        (player_id, seats[(at + distance) % len(seats)])
        for distance in distances
        for at, player_id in enumerate(seats)
    ]


def meetings_to_start(
    meetings: Sequence[Meeting],
    free: Sequence[FreePlayer],
    slots: int | None,
    dice: Random,
    *,
    plays: Mapping[int, Mapping[int, int]] | None = None,
    arena_ids: Sequence[int] = (),
) -> list[Meeting]:
    """The meetings to start now: as many as possible, new arenas first, fewest games, then longest wait.

    Takes the meetings not started yet, the free players and the number of games that fit (free arenas,
    allowed active games; None for no limit), and the free arenas with player id -> arena id -> plays where
    arenas are balanced. Source: formats, section 14.5.
    """
    if slots is not None and slots <= 0:
        return []
    order = balanced.random_order(range(len(free)), dice)
    node_of = {free[at].player_id: node for node, at in enumerate(order)}
    urgency = _urgency(free)
    possible = sorted({_node_pair(pair, node_of) for pair in meetings if _are_both_free(pair, node_of)})
    players = [free[at].player_id for at in order]
    # One more play of an arena outweighs all that is urgent.
    above_urgency = 1 + 2 * max(urgency.values(), default=0)
    edges = []
    for node, other_node in possible:
        pair = players[node], players[other_node]
        known = 0 if plays is None else _least_known(pair, plays, arena_ids)
        edges.append((node, other_node, above_urgency * known - urgency[pair[0]] - urgency[pair[1]]))
    cost_of = {(node, other_node): cost for node, other_node, cost in edges}
    pairs = sorted(matching.cheapest_pairs(len(players), edges), key=cost_of.__getitem__)
    if slots is not None and len(pairs) > slots:
        cheapest = _cheapest_apart(sorted(cost_of, key=cost_of.__getitem__), slots)
        pairs = cheapest if len(cheapest) == slots else pairs[:slots]
    return [(players[node], players[other_node]) for node, other_node in pairs]


def _least_known(pair: Meeting, plays: Mapping[int, Mapping[int, int]], arena_ids: Sequence[int]) -> int:
    """How well two players know the free arena that they know least; each play counts four times the last."""
    counts = [plays.get(player_id, {}) for player_id in pair]
    known = (sum(4 ** min(own.get(arena_id, 0), PLAYS_COUNTED) for own in counts) for arena_id in arena_ids)
    return min(known, default=0)


def _cheapest_apart(pairs: Sequence[Meeting], count: int) -> list[Meeting]:
    """The first of these pairs without a player in common, at most so many."""
    chosen: list[Meeting] = []
    seated: set[int] = set()
    for pair in pairs:
        if len(chosen) < count and seated.isdisjoint(pair):
            chosen.append(pair)
            seated.update(pair)
    return chosen


def _urgency(free: Sequence[FreePlayer]) -> dict[int, int]:
    """Player id -> weight: one game fewer outweighs every wait."""
    games_most = max((waiting.games for waiting in free), default=0)
    longest_last = sorted(free, key=lambda waiting: -waiting.turn)
    return {
        waiting.player_id: (games_most - waiting.games) * 2 * len(free) + patience
        for patience, waiting in enumerate(longest_last)
    }


def _are_both_free(pair: Meeting, node_of: Mapping[int, int]) -> bool:
    return pair[0] in node_of and pair[1] in node_of


def _node_pair(pair: Meeting, node_of: Mapping[int, int]) -> Meeting:
    low, high = sorted((node_of[pair[0]], node_of[pair[1]]))
    return low, high


def rebuild_schedule(games_left: Mapping[int, int], past: DrawHistory, dice: Random) -> RebuiltSchedule:
    """New meetings for the games that players still need, with few repeats.

    Takes player id -> games not played and not running, and the meetings so far. Where no such schedule
    exists, the player with the most games left gets walkovers. At most 20,000 improvements are tried.
    Source: formats, section 14.5.
    """
    needed = {player_id: games for player_id, games in games_left.items() if games > 0}
    walkovers = _walkovers(needed, dice)
    needed = {player_id: games - walkovers.get(player_id, 0) for player_id, games in needed.items()}
    meetings = _pair_by_need(needed, past, dice)
    return RebuiltSchedule(tuple(_reduce_repeats(meetings, past, dice)), walkovers)


def _walkovers(needed: Mapping[int, int], dice: Random) -> dict[int, int]:
    """Games that the player with most games left cannot play, because too few opponents need them."""
    if not needed:
        return {}
    neediest = max(balanced.random_order(sorted(needed), dice), key=lambda player_id: needed[player_id])
    others = sum(needed.values()) - needed[neediest]
    surplus = max(0, needed[neediest] - others)
    surplus += (others + needed[neediest] - surplus) % 2
    return {neediest: surplus} if surplus else {}


def _pair_by_need(needed: dict[int, int], past: DrawHistory, dice: Random) -> list[Meeting]:
    """Meetings from the neediest player on; an opponent whose need cannot wait comes first."""
    left = dict(needed)
    times: Counter[frozenset[int]] = Counter()
    meetings: list[Meeting] = []
    for _ in range(sum(needed.values()) // 2):
        order = balanced.random_order(sorted(player_id for player_id in left if left[player_id]), dice)
        order.sort(key=lambda player_id: -left[player_id])
        neediest, candidates = order[0], order[1:]
        # A player who needs half of all games left must play now, or would run out of opponents.
        urgent = [opponent for opponent in candidates if 2 * left[opponent] >= sum(left.values())]
        opponent = min(
            urgent or candidates,
            key=lambda player_id: (
                past.times_met(neediest, player_id) + times[frozenset((neediest, player_id))]
            ),
        )
        times[frozenset((neediest, opponent))] += 1
        left[neediest] -= 1
        left[opponent] -= 1
        meetings.append((neediest, opponent))
    return meetings


def _reduce_repeats(meetings: list[Meeting], past: DrawHistory, dice: Random) -> list[Meeting]:
    """The same number of games for each player with fewer repeats: pairs of meetings swap opponents."""
    times: Counter[Meeting] = Counter(_meeting_of(*meeting) for meeting in meetings)
    if len(meetings) < 2:
        return meetings
    for _ in range(min(SWAPS_MAX, SWAPS_PER_MEETING * len(meetings))):
        if all(count + past.times_met(*meeting) <= 1 for meeting, count in times.items()):
            break
        first, second = dice.sample(range(len(meetings)), 2)
        (first_player, first_opponent), (second_player, second_opponent) = (
            meetings[first],
            dice.sample(meetings[second], 2),
        )
        if first_player == second_player or first_opponent == second_opponent:
            continue
        before, after = (
            [_meeting_of(first_player, first_opponent), _meeting_of(second_player, second_opponent)],
            [_meeting_of(first_player, second_player), _meeting_of(first_opponent, second_opponent)],
        )
        if _try_exchange(times, before, after, past):
            meetings[first], meetings[second] = (
                (first_player, second_player),
                (first_opponent, second_opponent),
            )
    return meetings


def _try_exchange(
    times: Counter[Meeting], before: Sequence[Meeting], after: Sequence[Meeting], past: DrawHistory
) -> bool:
    """Replace two meetings by two others unless that costs more; True when replaced."""
    concerned = {*before, *after}
    cost_before = sum((times[meeting] + past.times_met(*meeting)) ** 2 for meeting in concerned)
    times.subtract(before)
    times.update(after)
    cost_after = sum((times[meeting] + past.times_met(*meeting)) ** 2 for meeting in concerned)
    if cost_after <= cost_before:
        for meeting in concerned:
            if not times[meeting]:
                del times[meeting]
        return True
    times.subtract(after)
    times.update(before)
    return False


def _meeting_of(player_id: int, opponent_id: int) -> Meeting:
    return min(player_id, opponent_id), max(player_id, opponent_id)
