"""Results that players send in."""

from typing import Any

from silverball.kit.body import Body
from silverball.kit.http import Write
from silverball.rules import results, suggesting
from silverball.rules.tournament import Tournament
from silverball.service import access, acting
from silverball.service.access import Caller
from silverball.service.games import overwriting, reads
from silverball.service.games.bodies import SaidResult
from silverball.wire.games import Game

TOURNAMENT, GAME, SUGGESTION = "tournament_id", "game_id", "suggestion_id"


def suggest(call: Write[SaidResult]) -> Game:
    """A player of the game says how it ended."""
    game_id = call.ids[GAME]
    said = call.body.outcome(game_id, call.actor_id)

    def rule(t: Tournament) -> acting.Made:
        player_id = access.reporter_of(call.caller, t, results.game_of(t, game_id))
        # The dice of the result itself: what follows from it is the same whoever says it.
        return acting.drawn(
            t, f"result of game {game_id}", lambda d: suggesting.suggest(t, said, player_id, d, call.now)
        )

    acting.act(call, rule, may=lambda one, t: access.may_report(one, t, results.game_of(t, game_id)))
    return _shown(call, game_id)


def approve(call: Write[Body]) -> Game:
    """What a player sent in becomes the result."""

    def rule(t: Tournament) -> acting.Made:
        one = suggesting.suggestion_of(t, call.ids[SUGGESTION])
        made = acting.drawn(
            t,
            f"result of game {one.game_id}",
            lambda dice: suggesting.approve(t, one.suggestion_id, call.actor_id, dice, call.now),
        )
        overwriting.require(call, t, one.game_id, made.changes)
        return made

    game_id = _game_id(call)
    acting.act(call, rule, may=access.may_score)
    return _shown(call, game_id)


def decline(call: Write[Body]) -> Game:
    """What a player sent in counts no more; who sent it may take it back."""
    suggestion_id = call.ids[SUGGESTION]

    def may(caller: Caller, t: Tournament) -> bool:
        is_own = suggesting.suggestion_of(t, suggestion_id).user_id == caller.user_id
        return is_own or access.may_score(caller, t)

    game_id = _game_id(call, may)
    acting.act(
        call,
        lambda t: acting.drawn(
            t, f"result of game {game_id}", lambda d: suggesting.decline(t, suggestion_id, d, call.now)
        ),
        may=may,
    )
    return _shown(call, game_id)


def _game_id(call: Write[Any], may: acting.May = access.may_score) -> int:
    return suggesting.suggestion_of(acting.tournament_of(call, may), call.ids[SUGGESTION]).game_id


def _shown(call: Write[Any], game_id: int) -> Game:
    return reads.one(call.db, call.ids[TOURNAMENT], game_id)
