"""Commands on players who give up a game, leave, or did not come. Source: formats, sections 20 and 26.

In every format and state each of the three has one way that works: a player gives up what is open, or
leaves for good, or was never there.
"""

from datetime import datetime
from random import Random

from silverball.rules.commands import games as game_commands
from silverball.rules.commands import roster
from silverball.rules.commands import tournament as tournament_commands
from silverball.rules.format import PlayKind, Rounds
from silverball.rules.model.apply import apply_changes
from silverball.rules.model.changes import Change, EntrantRemoved
from silverball.rules.model.refusals import TournamentIsCompleted
from silverball.rules.model.tournament import Tournament


def leave(tournament: Tournament, player_id: int, dice: Random, now: datetime) -> list[Change]:
    """Let a player leave for good: they give up what is open, and each game that comes up later."""
    entrant = tournament_commands.find_entrant(tournament, player_id)
    if tournament.status == "completed":
        raise TournamentIsCompleted(action="change its players")
    changes: list[Change] = []
    form = tournament_commands.format_of(tournament)
    is_open = tournament.status == "started" and tournament_commands.has_open_games(tournament, player_id)
    if is_open and form.can_leave and form.play is not PlayKind.RACE and entrant.is_active:
        changes = tournament_commands.forfeit_open_games(tournament, player_id, dice, now)
    current = apply_changes(tournament, changes)
    return [
        *changes,
        *tournament_commands.set_active(current, player_id, is_active=False, dice=dice, now=now),
    ]


def take_out_who_did_not_come(
    tournament: Tournament, player_id: int, dice: Random, now: datetime
) -> list[Change]:
    """Take a player out as if they had never entered; after the first result, or in a bracket, they leave."""
    entrant = tournament_commands.find_entrant(tournament, player_id)
    form = tournament_commands.format_of(tournament)
    if tournament.status != "started":
        return tournament_commands.remove_entrant(tournament, player_id, dice=dice, now=now)
    if _has_results(tournament):
        return leave(tournament, player_id, dice, now)
    if form.rounds is Rounds.FIXED and form.bracket is None and form.late_entry != "never":
        # A round robin is drawn again without them.
        gone: list[Change] = [EntrantRemoved(entrant)]
        redrawn = form.roster_changed(apply_changes(tournament, gone), entrant, dice, now)
        return [*gone, *redrawn]
    if form.can_leave and form.play is PlayKind.GAMES and form.rounds is Rounds.OPENED:
        changes = roster.leave_open_games(tournament, player_id, roster.GOES_ON, dice, now)
        return [*changes, *_remove(apply_changes(tournament, changes), player_id, dice, now)]
    if form.can_leave and form.play is PlayKind.HOLES:
        return tournament_commands.remove_entrant(tournament, player_id, dice=dice, now=now)
    return leave(tournament, player_id, dice, now)


def _has_results(tournament: Tournament) -> bool:
    """Whether anything was played: byes are no results."""
    played = any(
        (game.status == "completed" and not game.is_bye) or game.gave_up_ids for game in tournament.games
    )
    return played or any(attempt.status == "completed" for attempt in tournament.single_player_games)


def _remove(tournament: Tournament, player_id: int, dice: Random, now: datetime) -> list[Change]:
    """Remove a player whose only game can be a bye, which goes with them."""
    byes = [game for game in tournament.games if game.is_bye and player_id in game.player_ids]
    changes: list[Change] = [change for bye in byes for change in game_commands.delete_bye(tournament, bye)]
    current = apply_changes(tournament, changes)
    return [
        *changes,
        *tournament_commands.remove_entrant(current, player_id, dice=dice, now=now),
    ]
