"""Commands on players who lose a game, or leave, by a ruling of a director.

Each function returns changes or refuses. Source: pages, section 2, "Directors".
"""

from datetime import datetime
from random import Random

from silverball.rules.commands import absences, roster
from silverball.rules.mechanics import results
from silverball.rules.model.changes import Change
from silverball.rules.model.tournament import Tournament


def lose_game(
    tournament: Tournament, game_id: int, player_id: int, dice: Random, now: datetime
) -> list[Change]:
    """Give a player the last place of an open game; no change in one that is over, or that counts games."""
    game = results.find_game(tournament, game_id)
    is_placed = player_id in game.result_positions
    if game.status == "completed" or tournament.settings.has_matches or is_placed:
        return []
    return absences.give_last_place(tournament, game, player_id, dice, now)


def disqualify(tournament: Tournament, player_id: int, dice: Random, now: datetime) -> list[Change]:
    """Give a player the last place of each open game, and let them leave the tournament.

    Raises Conflict in a bracket, where a forfeit ends their match, and where nobody can leave.
    """
    leaving = {"open_game": absences.LAST_PLACE, "is_active": False}
    return roster.change_entrant(tournament, player_id, leaving, dice, now)
