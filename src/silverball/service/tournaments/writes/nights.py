"""A new tournament that has its players and machines from the beginning, like one before it."""

from collections.abc import Sequence
from random import Random

from silverball.kit.errors import Invalid
from silverball.rules.commands import lineup as lineup_commands
from silverball.rules.commands import roster as roster_commands
from silverball.rules.model.apply import apply_changes
from silverball.rules.model.changes import Change
from silverball.rules.model.tournament import Entrant, LineupArena, Tournament
from silverball.service.calls import Write
from silverball.service.core import commands, enact
from silverball.service.roster import reads as roster_reads
from silverball.service.tournaments.bodies import NewNightFields
from silverball.service.tournaments.writes import tournaments


def create_night(call: Write[NewNightFields], dice: Random) -> Tournament:
    """Create a planned tournament of the caller, with these players and arenas of the book.

    Raises Invalid for a player or an arena that is not in the caller's book any more.
    """
    tournament = tournaments.create_tournament(call, dice)
    players, arenas = _entrants(call), _lineup_arenas(call)
    # Before the start nothing is drawn, so neither needs dice that can be made again.
    changes: list[Change] = []
    if players:
        changes += roster_commands.add_entrants(tournament, players, dice, call.now)
    if arenas:
        joined = apply_changes(tournament, changes)
        changes += lineup_commands.add_arenas(joined, arenas, dice, call.now)
    if changes:
        context = commands.action_context(call)
        enact.enact(call.transaction, tournament.tournament_id, changes, context)
    return tournament


def _entrants(call: Write[NewNightFields]) -> Sequence[Entrant]:
    player_ids = tuple(dict.fromkeys(call.body.player_ids))
    claimed = roster_reads.book_players(call.db, call.user_id, player_ids)
    if len(claimed) < len(player_ids):
        raise Invalid({"playerIds": ["A player is not in your book any more. Reload the page."]})
    return [Entrant(player_id=player_id, user_id=claimed[player_id]) for player_id in player_ids]


def _lineup_arenas(call: Write[NewNightFields]) -> Sequence[LineupArena]:
    arena_ids = tuple(dict.fromkeys(call.body.arena_ids))
    categories = roster_reads.book_arenas(call.db, call.user_id, arena_ids)
    if len(categories) < len(arena_ids):
        raise Invalid({"arenaIds": ["A machine is not in your book any more. Reload the page."]})
    return [LineupArena(arena_id=arena_id, category_id=categories[arena_id]) for arena_id in arena_ids]
