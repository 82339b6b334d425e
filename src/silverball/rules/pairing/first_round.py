"""Draws of the first round from the seeds. Source: formats, section 5.

Each function takes the active player ids by seed rank, best first.
"""

from collections.abc import Sequence
from random import Random

from silverball.kit.errors import Invalid
from silverball.rules.pairing import groups, random_draw
from silverball.rules.pairing.groups import Draw, Group

RANDOM = "random"
ADJACENT = "adjacent"
CROSS = "cross"
SLAUGHTER = "slaughter"
BEST_GAME = "best_game"
FIRST_ROUND_PAIRINGS = frozenset({RANDOM, ADJACENT, CROSS, SLAUGHTER, BEST_GAME})


def draw_pairs(way: str, player_ids: Sequence[int], dice: Random) -> Draw:
    """Pairs of the first round; with an odd number the last seed has the bye.

    Takes the `firstRoundPairing` (random; adjacent 1-2, 3-4; cross: top half against bottom half;
    slaughter and best_game: best against worst). Raises Invalid for any other pairing.
    Source: formats, section 5.
    """
    _check_pairing(way)
    if way == RANDOM:
        return groups.pair_neighbours(random_draw.random_order(player_ids, dice))
    even = len(player_ids) - len(player_ids) % 2
    playing, byes = tuple(player_ids[:even]), tuple(player_ids[even:])
    if way == ADJACENT:
        return Draw(groups.pair_neighbours(playing).groups, byes)
    top, bottom = playing[: even // 2], playing[even // 2 :]
    opponents = bottom if way == CROSS else bottom[::-1]
    return Draw(tuple(zip(top, opponents, strict=True)), byes)


def draw_groups(way: str, player_ids: Sequence[int], dice: Random) -> Draw:
    """Groups of the first round, without byes.

    Takes the `firstRoundPairing`; groups know no cross, so it is played as slaughter. Raises Invalid for
    any other pairing. Source: formats, section 5.
    """
    _check_pairing(way)
    if way == RANDOM:
        return Draw(groups.slice_into_groups(random_draw.random_order(player_ids, dice)))
    return Draw(adjacent_groups(player_ids) if way == ADJACENT else slaughter_groups(player_ids))


def adjacent_groups(player_ids: Sequence[int]) -> tuple[Group, ...]:
    """Groups of neighbouring seeds. Source: formats, section 5; TournamentUtils."""
    remaining = list(player_ids)
    seated: list[Group] = []
    while remaining:
        size = _next_group_size(len(remaining))
        seated.append(tuple(remaining[:size]))
        remaining = remaining[size:]
    return tuple(seated)


def slaughter_groups(player_ids: Sequence[int]) -> tuple[Group, ...]:
    """Groups of the best, the worst and the middle seeds, moving inwards.

    8 players make 1, 4, 5, 8 and 2, 3, 6, 7. Source: formats, section 5; TournamentUtils.
    """
    remaining = list(player_ids)
    seated: list[Group] = []
    while remaining:
        size = min(_next_group_size(len(remaining)), len(remaining))
        middle_at = max(0, (len(remaining) + 1) // 2 - 2)
        first = remaining.pop(0)
        middle = remaining[middle_at : middle_at + size - 2]
        del remaining[middle_at : middle_at + size - 2]
        last = [remaining.pop()] if remaining else []
        seated.append((first, *middle, *last))
    return tuple(seated)


def _next_group_size(players_left: int) -> int:
    is_short = players_left < 10 and players_left % 4 != 0 and players_left != 7
    return 3 if is_short else 4


def _check_pairing(way: str) -> None:
    if way not in FIRST_ROUND_PAIRINGS:
        known = ", ".join(sorted(FIRST_ROUND_PAIRINGS))
        raise Invalid({"firstRoundPairing": [f"{way} is not a first-round pairing. Choose one of {known}."]})
