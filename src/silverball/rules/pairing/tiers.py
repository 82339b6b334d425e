"""Tiered Swiss, Pinburgh style: blocks of the table are drawn separately. Source: formats, section 6.7."""

from collections.abc import Sequence
from functools import cache
from typing import TypeAlias

from silverball.kit.errors import Conflict
from silverball.rules.pairing import first_round
from silverball.rules.pairing.groups import GROUP_SIZE, Draw, Group
from silverball.rules.pairing.tier_table import ROUNDS_TO_BLOCKS

Blocks: TypeAlias = tuple[int, ...]

PLAYERS_MIN = 16
PLAYERS_MAX = 160
ROUNDS = tuple(ROUNDS_TO_BLOCKS)


class NoTierMap(Conflict):
    """There is no tier map for this number of rounds or players."""

    sentence = (
        "There are no tiers for {rounds} rounds and {player_count} players. Tiers need {known_rounds} "
        f"rounds and {PLAYERS_MIN} to {PLAYERS_MAX} players. "
        "Change the number of rounds or choose another pairing."
    )

    def __init__(self, rounds: int, players: int) -> None:
        known_rounds = ", ".join(str(number) for number in ROUNDS)
        super().__init__(rounds=rounds, player_count=players, known_rounds=known_rounds)


def check_tiers(rounds: int, players: int) -> None:
    """Refuse a tournament that has no tier map.

    Takes the planned number of rounds (`duration`) and of players. Raises NoTierMap.
    Source: formats, section 6.7.
    """
    if rounds not in ROUNDS_TO_BLOCKS or not PLAYERS_MIN <= players <= PLAYERS_MAX:
        raise NoTierMap(rounds, players)


def has_round(rounds: int, round_index: int, players: int) -> bool:
    """Whether the tier map covers this round (index from 0); rounds beyond it are drawn balanced.

    Source: formats, section 6.7.
    """
    is_known = rounds in ROUNDS_TO_BLOCKS and PLAYERS_MIN <= players <= PLAYERS_MAX
    return is_known and 0 <= round_index < rounds


def tier_groups(ranking: Sequence[int], rounds: int, round_index: int) -> Draw:
    """The groups of one round.

    Takes the player ids by current standing, best first (round 0: by seed), the planned number of rounds
    (`duration`) and the round's index from 0. Within a block the groups are drawn as `slaughter`. Raises
    NoTierMap when there is no map, ValueError when the map does not cover the round.
    Source: formats, section 6.7; TournamentUtils.
    """
    check_tiers(rounds, len(ranking))
    if not 0 <= round_index < rounds:
        raise ValueError(f"round {round_index} is not one of {rounds} tier rounds")
    drawn: list[Group] = []
    start = 0
    for size in block_sizes(rounds, round_index, len(ranking)):
        drawn += first_round.slaughter_groups(ranking[start : start + size])
        start += size
    return Draw(tuple(drawn))


def block_sizes(rounds: int, round_index: int, players: int) -> Blocks:
    """Block sizes of one round, best block first; they add up to the number of players.

    The map of the next multiple of four is used. The missing players are taken out of the last blocks,
    so that only the bottom of the table plays in threes. Raises NoTierMap. Source: formats, section 6.7.
    """
    check_tiers(rounds, players)
    full = _tier_map(rounds)[players + -players % GROUP_SIZE][round_index]
    sizes: list[int] = []
    left = players
    for at, block in enumerate(full):
        size = min(left, block - _players_fewer(full, at, left))
        sizes.append(size)
        left -= size
    return tuple(size for size in sizes if size)


def _players_fewer(full: Blocks, at: int, left: int) -> int:
    """Players taken out of a block, so that the blocks after it can still be cut into threes."""
    last = full[-1]
    if at == len(full) - 2:
        missing = full[at] + last - left
        if missing == 3 and last == 4:
            return 2
        return 1 if (missing, last) in {(2, 4), (3, 8)} else 0
    # Three players are missing and the last two blocks are fours, so the last three take one fewer each.
    are_last_fours = at == len(full) - 3 and full[at + 1 :] == (4, 4)
    return 1 if are_last_fours and sum(full[at:]) - left == 3 else 0


@cache
def _tier_map(rounds: int) -> dict[int, tuple[Blocks, ...]]:
    """Number of players -> the blocks of each round."""
    table: dict[int, tuple[Blocks, ...]] = {}
    for entry in ROUNDS_TO_BLOCKS[rounds].split(";"):
        players, blocks_by_round = entry.split(":")
        cut: list[Blocks] = []
        for token in blocks_by_round.split():
            blocks, _, times = token.partition("*")
            cut += [_parse_blocks(blocks, int(players))] * int(times or 1)
        table[int(players)] = tuple(cut)
    return table


def _parse_blocks(text: str, players: int) -> Blocks:
    sizes = tuple(int(size) for size in text.split("+"))
    return sizes if len(sizes) > 1 else sizes * (players // sizes[0])
