"""Random draws. Source: formats, section 6.1."""

from collections.abc import Sequence
from random import Random

from silverball.rules.pairing import groups, history
from silverball.rules.pairing.groups import Draw
from silverball.rules.pairing.history import DrawHistory


def random_order(player_ids: Sequence[int], dice: Random) -> list[int]:
    """The player ids in random order, as a new list."""
    return dice.sample(player_ids, len(player_ids))


def draw_bye(player_ids: Sequence[int], past: DrawHistory, dice: Random) -> int | None:
    """The player with the bye, drawn among those with the fewest byes; None for an even number.

    Source: formats, section 6.1.
    """
    if len(player_ids) % 2 == 0:
        return None
    return dice.choice(history.players_with_fewest_byes(player_ids, past))


def draw_pairs(player_ids: Sequence[int], past: DrawHistory, dice: Random) -> Draw:
    """Random pairs; with an odd number the bye is drawn among those with the fewest byes.

    Source: formats, section 6.1.
    """
    bye = draw_bye(player_ids, past, dice)
    playing = [player_id for player_id in player_ids if player_id != bye]
    return Draw(groups.pair_neighbours(random_order(playing, dice)).groups, () if bye is None else (bye,))


def draw_groups(player_ids: Sequence[int], dice: Random) -> Draw:
    """Random groups of four and three, fours first. Source: formats, sections 3 and 6.1."""
    return Draw(groups.slice_into_groups(random_order(player_ids, dice)))
