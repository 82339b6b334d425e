"""The command that draws the next matches of a max match play. Source: formats, section 14.5."""

from datetime import datetime
from random import Random

from silverball.kit.errors import Conflict
from silverball.rules.commands import tournament as tournament_commands
from silverball.rules.families import max_matchplay as max_matchplay_family
from silverball.rules.model.changes import Change
from silverball.rules.model.refusals import NotAMaxMatchPlay
from silverball.rules.model.tournament import Tournament


class TournamentNotRunning(Conflict):
    sentence = "The tournament is not running. Start it or reopen it first."


def create_matches(tournament: Tournament, dice: Random, now: datetime) -> list[Change]:
    """Open the matches that can be played now. Raises Conflict with the reason when there is none."""
    if not tournament_commands.format_of(tournament).has_match_requests:
        raise NotAMaxMatchPlay
    if tournament.status != "started":
        raise TournamentNotRunning
    return max_matchplay_family.create_matches(tournament, dice, now)
