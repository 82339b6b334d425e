"""Matches of a max match play, created when somebody asks for them."""

from silverball.kit.body import Body
from silverball.kit.http import Write
from silverball.rules import maxplay
from silverball.rules.tournament import Tournament
from silverball.service import access, acting
from silverball.service.access import AuthenticatedCaller
from silverball.service.games import reads as games
from silverball.wire.games import Game


def create_matches(call: Write[Body]) -> tuple[Game, ...]:
    """The matches that can be played now."""
    before = {one.game_id for one in acting.load_tournament(call, _may_create).games}
    after = acting.run_command(
        call,
        lambda t: acting.decide_by_draw(
            t, f"matches after {len(t.games)}", lambda dice: maxplay.create_matches(t, dice, call.now)
        ),
        is_allowed=_may_create,
    )
    made = [one.game_id for one in after.games if one.game_id not in before]
    return games.selected_games(call.db, call.ids["tournament_id"], made)


def _may_create(caller: AuthenticatedCaller, tournament: Tournament) -> bool:
    if access.may_manage(caller, tournament):
        return True
    return maxplay.scorekeepers_may_create(tournament) and access.may_score(caller, tournament)
