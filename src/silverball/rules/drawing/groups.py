"""Group sizes of a round, and the shape of a draw. Source: formats, section 3."""

from collections.abc import Sequence
from typing import TypeAlias

from msgspec import Struct

from silverball.kit.errors import Invalid

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


# Group elimination (PAPA-style finals): groups of four, the best two advance. Source: formats, 14.12.


SIZE_MIN, SIZE_MAX = 2, 128
DOUBLE_BYE_SIZES = (8, 16, 32, 64)
FULL_SIZES = (4, 8, 16, 32, 64, 128)
# Where it is chosen, forty players play two rounds and end with sixteen qualifiers.
SHORT_SIZE, SHORT_ROUNDS = 40, 2
# Players of each group who go on.
ADVANCING = 2


class GroupBracketRound(Struct, frozen=True):
    """A round: the number of players, and the best and worst seed that join in it (0 and 0 for none)."""

    player_count: int
    best_joining_seed: int
    worst_joining_seed: int


def planned_rounds(
    size: int, *, has_double_byes: bool = False, is_short: bool = False
) -> list[GroupBracketRound]:
    """All rounds of a group bracket of 2 to 128 players.

    Two and three play one final. Between two full sizes the worst seeds play first, in as many groups as
    bring the field down to the full size, while the others wait; the first group has three where the
    number is odd. Double byes change the rounds of 8, 16, 32 and 64 only, `is_short` those of 40. Raises
    Invalid for any other size. Source: formats, sections 14.12 and 26.
    """
    if not SIZE_MIN <= size <= SIZE_MAX:
        sentence = f"A group bracket takes {SIZE_MIN} to {SIZE_MAX} players, not {size}."
        raise Invalid({"bracketSize": [sentence]})
    if has_double_byes and size in DOUBLE_BYE_SIZES:
        quarter = size // 4
        opening = [
            GroupBracketRound(size // 2, size // 2 + 1, size),
            GroupBracketRound(size // 2, quarter + 1, size // 2),
        ]
        return [*opening, GroupBracketRound(size // 2, 1, quarter), *_halving_rounds(size // 4)]
    if size <= GROUP_SIZE:
        return [GroupBracketRound(size, 1, size)]
    full = max(full_size for full_size in FULL_SIZES if full_size <= size)
    if full == size:
        return [GroupBracketRound(size, 1, size), *_halving_rounds(size // 2)]
    waiting = full - ADVANCING * ((size - full + 1) // 2)
    opening = [
        GroupBracketRound(size - waiting, waiting + 1, size),
        GroupBracketRound(full, 1 if waiting else 0, waiting),
    ]
    rounds = [*opening, *_halving_rounds(full // 2)]
    return rounds[:SHORT_ROUNDS] if is_short and size == SHORT_SIZE else rounds


def _halving_rounds(players: int) -> list[GroupBracketRound]:
    """The rounds without new seeds, down to the final of four."""
    rounds: list[GroupBracketRound] = []
    while players >= GROUP_SIZE:
        rounds.append(GroupBracketRound(players, 0, 0))
        players //= 2
    return rounds


def round_count(size: int, *, has_double_byes: bool = False, is_short: bool = False) -> int:
    """`roundCount` of a group bracket. Raises as `planned_rounds` does. Source: formats, section 14.12."""
    return len(planned_rounds(size, has_double_byes=has_double_byes, is_short=is_short))


def makes_groups(players: int) -> bool:
    """Whether so many players make groups of four, the first of which may have three; two make one."""
    return players == PAIR_SIZE or (players > PAIR_SIZE and players % GROUP_SIZE in {0, GROUP_SIZE - 1})


def groups_by_seed(player_ids: Sequence[int]) -> list[Group]:
    """The groups of a round: 8 players make 1, 4, 5, 8 and 2, 3, 6, 7; 7 make 1, 4, 5 and 2, 3, 6, 7.

    Takes the ids of the remaining players by original seed, best first. Raises ValueError unless they
    make groups of four, one of which may have three. Source: formats, sections 14.12 and 26.
    """
    if not makes_groups(len(player_ids)):
        raise ValueError(f"{len(player_ids)} players do not make groups of four")
    count = -(-len(player_ids) // GROUP_SIZE)
    ranks = [(at, 2 * count + 1 - at, 2 * count + at, 4 * count + 1 - at) for at in range(1, count + 1)]
    return [tuple(player_ids[rank - 1] for rank in group if rank <= len(player_ids)) for group in ranks]


# The ladder: the lowest seeds play, the last is out, the next seed joins. Source: formats, 14.13.


LADDER_PLAYERS_MAX = 1000


class LadderGame(Struct, frozen=True):
    """A game: the number of players, and how many of them are eliminated. The last game leaves one."""

    player_count: int
    eliminated_count: int


def ladder_games(players: int, *, is_fast: bool = False) -> list[LadderGame]:
    """All games of a ladder.

    Regular: games of four eliminate one player each, then a game of three and one of two follow. Fast:
    games of four eliminate two, and the last four play for the places; with an odd number the bottom
    three play first and one is out. Raises ValueError below 2 or above 1,000 players.
    Source: formats, section 14.13.
    """
    if not 2 <= players <= LADDER_PLAYERS_MAX:
        raise ValueError(f"{players} players cannot play a ladder")
    if is_fast:
        return _fast_ladder_games(players)
    return [LadderGame(min(GROUP_SIZE, alive), 1) for alive in range(players, 1, -1)]


def _fast_ladder_games(players: int) -> list[LadderGame]:
    if players <= GROUP_SIZE:
        return [LadderGame(players, players - 1)]
    opening = [LadderGame(3, 1)] if players % 2 else []
    middle = (players - players % 2 - GROUP_SIZE) // 2
    return [*opening, *[LadderGame(GROUP_SIZE, 2)] * middle, LadderGame(GROUP_SIZE, GROUP_SIZE - 1)]


def next_group(alive_ids: Sequence[int], game: LadderGame) -> Group:
    """The players of a game: the lowest seeds still alive, best seed first.

    Takes the ids of the players alive by seed, best first. The survivors of the previous game are always
    among them. Source: formats, section 14.13.
    """
    return tuple(alive_ids[-game.player_count :])
