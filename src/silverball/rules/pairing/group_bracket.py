"""Group elimination (PAPA-style finals): groups of four, the best two advance. Source: formats, 14.12."""

from collections.abc import Sequence

from msgspec import Struct

from silverball.kit.errors import Invalid
from silverball.rules.pairing.groups import GROUP_SIZE, Group

SIZES = (4, 6, 8, 10, 12, 16, 24, 28, 32, 40, 64, 128)
DOUBLE_BYE_SIZES = (8, 16, 32, 64)
FULL_SIZES = (4, 8, 16, 32, 64, 128)
# Forty players play two rounds and end with sixteen qualifiers.
ROUNDS_LIMITED = {40: 2}


class GroupBracketRound(Struct, frozen=True):
    """A round: the number of players, and the best and worst seed that join in it (0 and 0 for none)."""

    player_count: int
    best_joining_seed: int
    worst_joining_seed: int


def planned_rounds(size: int, *, has_double_byes: bool = False) -> list[GroupBracketRound]:
    """All rounds of a group bracket.

    Takes the bracket size and whether top seeds get double byes (sizes 8 to 64). A size between two full
    ones starts with its lowest seeds while the others wait. Raises Invalid for any other size.
    Source: formats, section 14.12.
    """
    _check_size(size, has_double_byes=has_double_byes)
    if has_double_byes:
        quarter = size // 4
        opening = [
            GroupBracketRound(size // 2, size // 2 + 1, size),
            GroupBracketRound(size // 2, quarter + 1, size // 2),
        ]
        return [*opening, GroupBracketRound(size // 2, 1, quarter), *_halving_rounds(size // 4)]
    largest_full_size = max(full_size for full_size in FULL_SIZES if full_size <= size)
    if largest_full_size == size:
        return [GroupBracketRound(size, 1, size), *_halving_rounds(size // 2)]
    waiting = 2 * largest_full_size - size
    opening = [
        GroupBracketRound(size - waiting, waiting + 1, size),
        GroupBracketRound(largest_full_size, 1, waiting),
    ]
    return [*opening, *_halving_rounds(largest_full_size // 2)][: ROUNDS_LIMITED.get(size)]


def _halving_rounds(players: int) -> list[GroupBracketRound]:
    """The rounds without new seeds, down to the final of four."""
    rounds: list[GroupBracketRound] = []
    while players >= GROUP_SIZE:
        rounds.append(GroupBracketRound(players, 0, 0))
        players //= 2
    return rounds


def _check_size(size: int, *, has_double_byes: bool) -> None:
    known = DOUBLE_BYE_SIZES if has_double_byes else SIZES
    if size not in known:
        raise Invalid({"bracketSize": [f"There is no group bracket of {size}. Choose one of {known}."]})


def round_count(size: int, *, has_double_byes: bool = False) -> int:
    """`roundCount` of a group bracket. Raises as `planned_rounds` does. Source: formats, section 14.12."""
    return len(planned_rounds(size, has_double_byes=has_double_byes))


def groups_by_seed(player_ids: Sequence[int]) -> list[Group]:
    """The groups of a round: 8 players make 1, 4, 5, 8 and 2, 3, 6, 7.

    Takes the ids of the remaining players by original seed, best first. Raises ValueError unless they
    are a multiple of four. Source: formats, section 14.12.
    """
    if len(player_ids) % GROUP_SIZE:
        raise ValueError(f"{len(player_ids)} players do not make groups of four")
    count = len(player_ids) // GROUP_SIZE
    ranks = [(at, 2 * count + 1 - at, 2 * count + at, 4 * count + 1 - at) for at in range(1, count + 1)]
    return [tuple(player_ids[rank - 1] for rank in group) for group in ranks]
