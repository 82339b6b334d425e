"""Matches of a max match play, created on request."""

from silverball.kit.http.body import Body
from silverball.rules.commands import max_matchplay as max_matchplay_commands
from silverball.rules.families import max_matchplay as max_matchplay_family
from silverball.rules.model.tournament import Tournament
from silverball.service import access
from silverball.service.access import AuthenticatedCaller
from silverball.service.calls import Write
from silverball.service.core import commands
from silverball.service.games.reads import games
from silverball_wire.games import Game


def create_matches(call: Write[Body]) -> tuple[Game, ...]:
    """Create the matches that can be played now."""
    before = {game.game_id for game in commands.load_tournament(call, _may_create).games}
    after = commands.run_long_command(
        call,
        lambda tournament: commands.decide_by_draw(
            tournament,
            f"matches after {len(tournament.games)}",
            lambda dice: max_matchplay_commands.create_matches(tournament, dice, call.now),
        ),
        is_allowed=_may_create,
    )
    new_ids = [game.game_id for game in after.games if game.game_id not in before]
    return games.selected_games(call.db, call.ids["tournament_id"], new_ids)


def _may_create(caller: AuthenticatedCaller, tournament: Tournament) -> bool:
    if access.may_manage(caller, tournament):
        return True
    return max_matchplay_family.can_scorekeepers_create(tournament) and access.may_score(caller, tournament)
