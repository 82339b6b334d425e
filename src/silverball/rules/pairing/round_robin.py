"""Round robins: every player meets every other. Source: formats, sections 14.8 and 14.9."""

from collections.abc import Sequence
from typing import TypeAlias

from silverball.rules.pairing.groups import Draw, Group

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
