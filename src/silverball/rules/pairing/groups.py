"""Group sizes of a round, and the shape of a draw. Source: formats, section 3."""

from collections.abc import Sequence
from typing import TypeAlias

from msgspec import Struct

Group: TypeAlias = tuple[int, ...]

GROUP_SIZE = 4
PAIR_SIZE = 2
PLAYERS_MAX = 10_000


class Draw(Struct, frozen=True):
    """The pairing of one round: groups of player ids in drawn order, and the players with a bye."""

    groups: tuple[Group, ...]
    byes: tuple[int, ...] = ()


def group_sizes(players: int) -> tuple[int, ...]:
    """Group sizes for a number of players in groups of four, fours first.

    There are no byes: groups of three absorb the remainder. 5 players make 3 and 2; 1 to 3 players make
    one group. Raises ValueError below 1 or above 10,000 players.
    Source: formats, section 3 (499 of 499 observed rounds).
    """
    if not 1 <= players <= PLAYERS_MAX:
        raise ValueError(f"{players} players cannot be put in groups")
    if players <= 3:
        return (players,)
    if players == 5:
        return (3, 2)
    threes = -players % GROUP_SIZE
    fours = (players - 3 * threes) // GROUP_SIZE
    return (4,) * fours + (3,) * threes


def slice_into_groups(player_ids: Sequence[int]) -> tuple[Group, ...]:
    """The player ids in groups of four, in the given order, fours first. Source: formats, section 3."""
    cut: list[Group] = []
    start = 0
    for size in group_sizes(len(player_ids)) if player_ids else ():
        cut.append(tuple(player_ids[start : start + size]))
        start += size
    return tuple(cut)


def pair_neighbours(player_ids: Sequence[int]) -> Draw:
    """Pairs of neighbours; the last of an odd number has a bye. Source: formats, section 3."""
    even = len(player_ids) - len(player_ids) % PAIR_SIZE
    pairs = tuple((player_ids[slot], player_ids[slot + 1]) for slot in range(0, even, PAIR_SIZE))
    return Draw(pairs, tuple(player_ids[even:]))
