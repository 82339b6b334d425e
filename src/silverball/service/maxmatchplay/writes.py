"""Matches of a max match play, created when somebody asks for them."""

from silverball.kit.body import Body
from silverball.kit.http import Write
from silverball.rules import maxplay
from silverball.rules.tournament import Tournament
from silverball.service import access, acting
from silverball.service.access import Caller
from silverball.service.games import reads as games
from silverball.wire.games import Game


def create_matches(call: Write[Body]) -> tuple[Game, ...]:
    """The matches that can be played now."""
    before = {one.game_id for one in acting.tournament_of(call, _may_create).games}
    after = acting.act(
        call,
        lambda t: acting.drawn(
            t, f"matches after {len(t.games)}", lambda dice: maxplay.create_matches(t, dice, call.now)
        ),
        may=_may_create,
    )
    made = [one.game_id for one in after.games if one.game_id not in before]
    return games.some(call.db, call.ids["tournament_id"], made)


def _may_create(caller: Caller, tournament: Tournament) -> bool:
    if access.manages(caller, tournament):
        return True
    return maxplay.scorekeepers_may_create(tournament) and access.may_score(caller, tournament)
