"""The playing order of a group. Source: formats, section 8."""

from collections.abc import Mapping, Sequence
from itertools import permutations
from random import Random
from typing import TypeAlias

import msgspec
from msgspec import Struct

from silverball.kit.errors import Invalid

Order: TypeAlias = tuple[int, ...]

BALANCED = "balanced"
RANDOM = "random"
DISABLED = "disabled"
SEED = "seed"
SEED_REVERSE = "seed_reverse"
POSITION = "position"
LOSER = "loser"
ROTATING = "rotating"
PLAYER_ORDERS = frozenset({BALANCED, RANDOM, DISABLED, SEED, SEED_REVERSE, POSITION, LOSER, ROTATING})
GROUP_SIZE_MAX = 4


class OrderFacts(Struct, frozen=True):
    """Facts that a playing order may depend on, by player id.

    slot_counts: id -> slot (from 0) -> times played in it; seed_ranks: id -> rank, 1 is best;
    positions: id -> current position, 1 is best. Missing players count as 0 times and as last.
    """

    slot_counts: Mapping[int, Mapping[int, int]] = msgspec.field(default_factory=dict)
    seed_ranks: Mapping[int, int] = msgspec.field(default_factory=dict)
    positions: Mapping[int, int] = msgspec.field(default_factory=dict)


def draw_orders(
    way: str, group: Sequence[int], facts: OrderFacts, *, games: int, dice: Random
) -> list[Order]:
    """The playing order of each game that a group plays in a round; slot 0 plays first.

    Takes the `playerOrder`, the player ids of the group, the facts and the number of games. All games
    keep one order, except that `rotating` moves each player up one slot from game to game; with `loser`
    results change it (`first_in_order`). Raises Invalid for an unknown `playerOrder`. Source: formats, 8.
    """
    first = draw_first_order(way, group, facts, dice)
    if way != ROTATING:
        return [first] * games
    return [rotate_order(first, game) for game in range(games)]


def draw_first_order(way: str, group: Sequence[int], facts: OrderFacts, dice: Random) -> Order:
    """The playing order of a group's first game, ties drawn. Takes and raises as `draw_orders` does."""
    drawn = dice.sample(list(group), len(group))
    if way in {RANDOM, DISABLED, ROTATING}:
        return tuple(drawn)
    # Nobody has lost a game of the round yet.
    if way in {BALANCED, LOSER}:
        return balanced_order(drawn, facts.slot_counts)
    if way == SEED:
        return tuple(sorted(drawn, key=lambda player_id: _rank_key(facts.seed_ranks, player_id)))
    if way == SEED_REVERSE:
        return tuple(
            sorted(drawn, key=lambda player_id: _rank_key(facts.seed_ranks, player_id), reverse=True)
        )
    if way == POSITION:
        return tuple(sorted(drawn, key=lambda player_id: _rank_key(facts.positions, player_id)))
    known = ", ".join(sorted(PLAYER_ORDERS))
    raise Invalid({"playerOrder": [f"{way} is not a playing order. Choose one of {known}."]})


def _rank_key(ranks: Mapping[int, int], player_id: int) -> tuple[bool, int]:
    return player_id not in ranks, ranks.get(player_id, 0)


def balanced_order(group: Sequence[int], slots: Mapping[int, Mapping[int, int]]) -> Order:
    """The order in which players get the slots that they have had least; the first of the cheapest.

    Takes up to four player ids, in random order so that ties are random too, and id -> slot (from 0) ->
    times played in it. Raises ValueError for larger groups. Source: formats, section 8; TournamentUtils.
    """
    if len(group) > GROUP_SIZE_MAX:
        raise ValueError(f"{len(group)} players are more than {GROUP_SIZE_MAX}")
    return min(permutations(group), key=lambda order: order_cost(order, slots))


def order_cost(order: Sequence[int], slots: Mapping[int, Mapping[int, int]]) -> int:
    """Sum over the players of the squared times each has played in their slot. Source: formats, 8."""
    return sum(slots.get(player_id, {}).get(slot, 0) ** 2 for slot, player_id in enumerate(order))


def rotate_order(order: Sequence[int], game: int) -> Order:
    """The order of game 0 moved left by the number of the game: slot 4 becomes 3. Source: formats, 8."""
    if not order:
        return ()
    turn = game % len(order)
    return (*order[turn:], *order[:turn])


def first_in_order(order: Sequence[int], player_id: int) -> Order:
    """The order with this player in slot 0; the others keep theirs. Source: formats, 26."""
    return (player_id, *(other for other in order if other != player_id))
