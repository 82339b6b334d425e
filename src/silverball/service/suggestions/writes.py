"""Results that players send in."""

from typing import Any

from silverball.kit.body import Body
from silverball.kit.http import Write
from silverball.rules import results, suggesting
from silverball.rules.tournament import Tournament
from silverball.service import access, acting
from silverball.service.access import AuthenticatedCaller
from silverball.service.games import overwriting, reads
from silverball.service.games.bodies import ReportedResult
from silverball.wire.games import Game

TOURNAMENT, GAME, SUGGESTION = "tournament_id", "game_id", "suggestion_id"


def suggest_result(call: Write[ReportedResult]) -> Game:
    """A player of the game says how it ended."""
    game_id = call.ids[GAME]
    said = call.body.outcome(game_id, call.actor_id)

    def rule(t: Tournament) -> acting.Decision:
        player_id = access.reporting_player_id(call.caller, t, results.game_of(t, game_id))
        # The dice of the result itself: what follows from it is the same whoever says it.
        return acting.decide_by_draw(
            t, f"result of game {game_id}", lambda d: suggesting.suggest(t, said, player_id, d, call.now)
        )

    acting.run_command(
        call, rule, is_allowed=lambda one, t: access.may_report(one, t, results.game_of(t, game_id))
    )
    return _current_game(call, game_id)


def approve_suggestion(call: Write[Body]) -> Game:
    """What a player sent in becomes the result."""

    def rule(t: Tournament) -> acting.Decision:
        one = suggesting.suggestion_of(t, call.ids[SUGGESTION])
        made = acting.decide_by_draw(
            t,
            f"result of game {one.game_id}",
            lambda dice: suggesting.approve(t, one.suggestion_id, call.actor_id, dice, call.now),
        )
        overwriting.refuse_overwrite(call, t, one.game_id, made.changes)
        return made

    game_id = _suggested_game_id(call)
    acting.run_command(call, rule, is_allowed=access.may_score)
    return _current_game(call, game_id)


def decline_suggestion(call: Write[Body]) -> Game:
    """What a player sent in counts no more; who sent it may take it back."""
    suggestion_id = call.ids[SUGGESTION]

    def may(caller: AuthenticatedCaller, t: Tournament) -> bool:
        is_own = suggesting.suggestion_of(t, suggestion_id).user_id == caller.user_id
        return is_own or access.may_score(caller, t)

    game_id = _suggested_game_id(call, may)
    acting.run_command(
        call,
        lambda t: acting.decide_by_draw(
            t, f"result of game {game_id}", lambda d: suggesting.decline(t, suggestion_id, d, call.now)
        ),
        is_allowed=may,
    )
    return _current_game(call, game_id)


def _suggested_game_id(call: Write[Any], may: acting.Permission = access.may_score) -> int:
    return suggesting.suggestion_of(acting.load_tournament(call, may), call.ids[SUGGESTION]).game_id


def _current_game(call: Write[Any], game_id: int) -> Game:
    return reads.find_game(call.db, call.ids[TOURNAMENT], game_id)
