"""Results that players send in."""

from typing import Any

from silverball.kit.http.body import Body
from silverball.rules.commands import suggestions as suggestion_commands
from silverball.rules.mechanics import results
from silverball.rules.model.tournament import Tournament
from silverball.service import access
from silverball.service.access import AuthenticatedCaller
from silverball.service.calls import Write
from silverball.service.core import commands
from silverball.service.games import overwriting
from silverball.service.games.bodies import ReportedResult
from silverball.service.games.reads import games as reads
from silverball.wire.games import Game

TOURNAMENT, GAME, SUGGESTION = "tournament_id", "game_id", "suggestion_id"


def suggest_result(call: Write[ReportedResult]) -> Game:
    """A player of the game says how it ended."""
    game_id = call.ids[GAME]
    said = call.body.outcome(game_id, call.actor_id)

    def rule(t: Tournament) -> commands.Decision:
        player_id = access.reporting_player_id(call.caller, t, results.find_game(t, game_id))
        # The dice of the result itself: what follows from it is the same whoever says it.
        return commands.decide_by_draw(
            t,
            f"result of game {game_id}",
            lambda d: suggestion_commands.suggest_result(t, said, player_id, d, call.now),
        )

    commands.run_command(
        call, rule, is_allowed=lambda one, t: access.may_report(one, t, results.find_game(t, game_id))
    )
    return _current_game(call, game_id)


def approve_suggestion(call: Write[Body]) -> Game:
    """What a player sent in becomes the result."""

    def rule(t: Tournament) -> commands.Decision:
        one = suggestion_commands.find_suggestion(t, call.ids[SUGGESTION])
        made = commands.decide_by_draw(
            t,
            f"result of game {one.game_id}",
            lambda dice: suggestion_commands.approve_suggestion(
                t, one.suggestion_id, call.actor_id, dice, call.now
            ),
        )
        overwriting.refuse_overwrite(call, t, one.game_id, made.changes)
        return made

    game_id = _suggested_game_id(call)
    commands.run_command(call, rule, is_allowed=access.may_score)
    return _current_game(call, game_id)


def decline_suggestion(call: Write[Body]) -> Game:
    """What a player sent in counts no more; who sent it may take it back."""
    suggestion_id = call.ids[SUGGESTION]

    def may(caller: AuthenticatedCaller, t: Tournament) -> bool:
        is_own = suggestion_commands.find_suggestion(t, suggestion_id).user_id == caller.user_id
        return is_own or access.may_score(caller, t)

    game_id = _suggested_game_id(call, may)
    commands.run_command(
        call,
        lambda t: commands.decide_by_draw(
            t,
            f"result of game {game_id}",
            lambda d: suggestion_commands.decline_suggestion(t, suggestion_id, d, call.now),
        ),
        is_allowed=may,
    )
    return _current_game(call, game_id)


def _suggested_game_id(call: Write[Any], may: commands.Permission = access.may_score) -> int:
    return suggestion_commands.find_suggestion(
        commands.load_tournament(call, may), call.ids[SUGGESTION]
    ).game_id


def _current_game(call: Write[Any], game_id: int) -> Game:
    return reads.find_game(call.db, call.ids[TOURNAMENT], game_id)
