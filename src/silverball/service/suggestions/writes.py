"""Results that players report."""

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
from silverball_wire.games import Game

TOURNAMENT, GAME, SUGGESTION = "tournament_id", "game_id", "suggestion_id"


def suggest_result(call: Write[ReportedResult]) -> Game:
    """Report the result of a game as one of its players."""
    game_id = call.ids[GAME]
    outcome = call.body.outcome(game_id, call.actor_id)

    def rule(tournament: Tournament) -> commands.Decision:
        player_id = access.reporting_player_id(
            call.caller, tournament, results.find_game(tournament, game_id)
        )
        # The dice are those of the result, so that its consequences do not depend on who enters it.
        return commands.decide_by_draw(
            tournament,
            f"result of game {game_id}",
            lambda dice: suggestion_commands.suggest_result(tournament, outcome, player_id, dice, call.now),
        )

    commands.run_command(
        call,
        rule,
        is_allowed=lambda caller, tournament: access.may_report(
            caller, tournament, results.find_game(tournament, game_id)
        ),
    )
    return _current_game(call, game_id)


def approve_suggestion(call: Write[Body]) -> Game:
    """Make a reported result the result of the game."""

    def rule(tournament: Tournament) -> commands.Decision:
        suggestion = suggestion_commands.find_suggestion(tournament, call.ids[SUGGESTION])
        decision = commands.decide_by_draw(
            tournament,
            f"result of game {suggestion.game_id}",
            lambda dice: suggestion_commands.approve_suggestion(
                tournament, suggestion.suggestion_id, call.actor_id, dice, call.now
            ),
        )
        game = results.find_game(tournament, suggestion.game_id)
        overwriting.refuse_overwrite(call, tournament, game, decision.changes)
        return decision

    game_id = _suggested_game_id(call)
    commands.run_command(call, rule, is_allowed=access.may_score)
    return _current_game(call, game_id)


def decline_suggestion(call: Write[Body]) -> Game:
    """Decline a reported result; its reporter may withdraw it."""
    suggestion_id = call.ids[SUGGESTION]

    def is_allowed(caller: AuthenticatedCaller, tournament: Tournament) -> bool:
        is_own = suggestion_commands.find_suggestion(tournament, suggestion_id).user_id == caller.user_id
        return is_own or access.may_score(caller, tournament)

    game_id = _suggested_game_id(call, is_allowed)
    commands.run_command(
        call,
        lambda tournament: commands.decide_by_draw(
            tournament,
            f"result of game {game_id}",
            lambda dice: suggestion_commands.decline_suggestion(tournament, suggestion_id, dice, call.now),
        ),
        is_allowed=is_allowed,
    )
    return _current_game(call, game_id)


def _suggested_game_id(call: Write[Any], is_allowed: commands.Permission = access.may_score) -> int:
    return suggestion_commands.find_suggestion(
        commands.load_tournament(call, is_allowed), call.ids[SUGGESTION]
    ).game_id


def _current_game(call: Write[Any], game_id: int) -> Game:
    return reads.find_game(call.db, call.ids[TOURNAMENT], game_id)
