"""Changes to single games."""

from collections.abc import Callable
from random import Random
from typing import Any

from msgspec import UNSET, UnsetType

from silverball.kit.errors import Invalid, Sentence
from silverball.kit.http.body import Body
from silverball.kit.http.endpoints import AbilityMissing
from silverball.kit.values import replace
from silverball.rules.commands import games as game_commands
from silverball.rules.commands import legs as leg_commands
from silverball.rules.commands import tournament as tournament_commands
from silverball.rules.mechanics import results
from silverball.rules.model import play_settings
from silverball.rules.model import tournament as model
from silverball.rules.model.apply import apply_changes
from silverball.rules.model.changes import Change
from silverball.rules.model.tournament import Tournament
from silverball.service import access
from silverball.service.access import AuthenticatedCaller
from silverball.service.calls import Write
from silverball.service.core import commands, corrections
from silverball.service.games import overwriting
from silverball.service.games.bodies import EnteredResult, GamePatch, LegPatch, NewGame, NewLeg, SeatedPlayer
from silverball.service.games.reads import games as reads
from silverball.service.games.reads import legs as leg_reads
from silverball_wire.corrections import RecordedGame
from silverball_wire.games import Game, Leg

TOURNAMENT, GAME, PLAYER, LEG = "tournament_id", "game_id", "player_id", "leg"


def record_result(call: Write[EnteredResult]) -> RecordedGame:
    """Record the result of a game; only the organizer can replace a result with another one.

    With `correction` the game may be of any round.
    """
    game_id, body = call.ids[GAME], call.body
    outcome = body.outcome(game_id, call.actor_id)
    draw = f"result of game {game_id}"
    if body.dry_run or body.correction is not UNSET:
        correction = corrections.correct_result(call, outcome, draw, body.correction, dry_run=body.dry_run)
        return RecordedGame(data=_current_game(call), correction=correction)

    def rule(tournament: Tournament) -> commands.Decision:
        game = results.find_game(tournament, game_id)
        decision = commands.decide_by_draw(
            tournament,
            draw,
            lambda dice: tournament_commands.record_result(tournament, outcome, dice, call.now),
        )
        overwriting.refuse_overwrite(call, tournament, game, decision.changes)
        return decision

    commands.run_command(call, rule, is_allowed=access.may_score)
    return RecordedGame(data=_current_game(call))


def record_leg(call: Write[NewLeg]) -> Leg:
    """Record the next single game of a match."""
    game_id, body = call.ids[GAME], call.body

    def rule(tournament: Tournament, dice: Random) -> list[Change]:
        arena_id = body.arena_id
        if isinstance(arena_id, UnsetType):
            arena_id = leg_commands.expected_arena_id(tournament, results.find_game(tournament, game_id))
        leg = model.Leg(finishing_order=body.result_positions, arena_id=arena_id)
        return leg_commands.add_leg(tournament, game_id, leg, call.actor_id, dice, call.now)

    after = _run_on_legs(call, rule)
    number = len(results.find_game(after, game_id).legs)
    return leg_reads.find_leg(call.db, call.ids[TOURNAMENT], game_id, number)


def change_leg(call: Write[LegPatch]) -> Leg:
    """Correct a single game of a match; in a decided match only the organizer."""
    game_id, number, body = call.ids[GAME], call.ids[LEG], call.body

    def rule(tournament: Tournament, dice: Random) -> list[Change]:
        leg = leg_commands.find_leg(tournament, game_id, number)
        if not isinstance(body.arena_id, UnsetType):
            leg = replace(leg, arena_id=body.arena_id)
        if not isinstance(body.result_positions, UnsetType):
            leg = replace(leg, finishing_order=body.result_positions)
        return leg_commands.change_leg(tournament, game_id, number, leg, call.actor_id, dice, call.now)

    _run_on_legs(call, rule)
    return leg_reads.find_leg(call.db, call.ids[TOURNAMENT], game_id, number)


def delete_leg(call: Write[Body]) -> Leg:
    """Delete a single game of a match; returns it as it was."""
    game_id, number = call.ids[GAME], call.ids[LEG]
    commands.load_tournament(call, access.may_score)
    before = leg_reads.find_leg(call.db, call.ids[TOURNAMENT], game_id, number)
    _run_on_legs(
        call,
        lambda tournament, dice: leg_commands.delete_leg(
            tournament, game_id, number, call.actor_id, dice, call.now
        ),
    )
    return before


def _run_on_legs(call: Write[Any], rule: Callable[[Tournament, Random], list[Change]]) -> Tournament:
    """Run the rule with the dice of the match; only the organizer changes a decided match."""
    game_id = call.ids[GAME]

    def decide(tournament: Tournament) -> commands.Decision:
        game = results.find_game(tournament, game_id)
        # The same dice however the match is entered, so that the same arenas are drawn for what follows.
        draw = f"result of game {game_id}"
        decision = commands.decide_by_draw(tournament, draw, lambda dice: rule(tournament, dice))
        overwriting.refuse_overwrite(call, tournament, game, decision.changes)
        return decision

    return commands.run_command(call, decide, is_allowed=access.may_score)


def clear_result(call: Write[Body]) -> Game:
    """Clear a result; returns the game, or its last state where it disappears with its result."""
    return _changed_game(
        call, lambda tournament: tournament_commands.clear_result(tournament, call.ids[GAME])
    )


def change_game(call: Write[GamePatch]) -> Game:
    """Change the order, the arena or a player of an open game."""
    game_id = call.ids[GAME]
    body = call.body

    def rule(tournament: Tournament) -> list[Change]:
        changes: list[Change] = []
        if not isinstance(body.swap, UnsetType):
            player_id = body.swap.player_id
            if player_id not in results.find_game(tournament, game_id).player_ids:
                sentence = Sentence("{player} is not in {game}.", player=player_id, game=game_id)
                raise Invalid({"swap.playerId": [sentence]})
            changes += game_commands.swap_players(tournament, player_id, body.swap.with_player_id)
        if not isinstance(body.arena_id, UnsetType):
            changes += game_commands.change_arena(apply_changes(tournament, changes), game_id, body.arena_id)
        if not isinstance(body.player_ids, UnsetType):
            changes += game_commands.change_order(
                apply_changes(tournament, changes), game_id, body.player_ids
            )
        return changes

    def is_allowed(caller: AuthenticatedCaller, tournament: Tournament) -> bool:
        return (
            _may_change_order(caller, tournament, game_id)
            if body.is_order_only
            else access.is_organizer(caller, tournament)
        )

    if not body.is_order_only and not call.caller.may("manage"):
        raise AbilityMissing
    commands.run_command(call, rule, is_allowed=is_allowed)
    return _current_game(call)


def _may_change_order(caller: AuthenticatedCaller, tournament: Tournament, game_id: int) -> bool:
    """Whether the caller keeps scores, or plays in the game and players may set the order."""
    if access.may_score(caller, tournament):
        return True
    if not play_settings.may_players_set_order(tournament.settings):
        return False
    return access.plays_in(caller, tournament, results.find_game(tournament, game_id))


def redraw_arena(call: Write[Body]) -> Game:
    """Draw another arena for an open game."""
    game_id = call.ids[GAME]

    def rule(tournament: Tournament) -> commands.Decision:
        arena_id = results.find_game(tournament, game_id).arena_id
        draw = f"arena of game {game_id} after {arena_id}"
        return commands.decide_by_draw(
            tournament, draw, lambda dice: game_commands.redraw_arena(tournament, game_id, dice)
        )

    commands.run_command(call, rule)
    return _current_game(call)


def add_player(call: Write[SeatedPlayer]) -> Game:
    """Add a player to a game of the open round."""
    game_id, player_id = call.ids[GAME], call.body.player_id
    return _changed_game(
        call,
        lambda tournament: commands.decide_by_draw(
            tournament,
            f"seat in game {game_id}",
            lambda dice: game_commands.add_player(tournament, game_id, player_id, dice, call.now),
        ),
    )


def remove_player(call: Write[Body]) -> Game:
    """Remove a player from an open game."""
    return _changed_game(
        call, lambda tournament: game_commands.remove_player(tournament, call.ids[GAME], call.ids[PLAYER])
    )


def create_game(call: Write[NewGame]) -> Game:
    """Create a game of chosen players."""
    before = {game.game_id for game in commands.load_tournament(call).games}
    body = call.body
    arena_id = body.arena_id if isinstance(body.arena_id, int) else None
    after = commands.run_command(
        call,
        lambda tournament: commands.decide_by_draw(
            tournament,
            f"game {len(tournament.games)}",
            lambda dice: game_commands.create_game(
                tournament, body.player_ids, arena_id, dice=dice, now=call.now
            ),
        ),
    )
    (game_id,) = (game.game_id for game in after.games if game.game_id not in before)
    return reads.find_game(call.db, call.ids[TOURNAMENT], game_id)


def delete_game(call: Write[Body]) -> Game:
    """Delete a game; returns its last state."""
    game_id = call.ids[GAME]
    return _changed_game(
        call,
        lambda tournament: commands.decide_by_draw(
            tournament,
            f"end of game {game_id}",
            lambda dice: game_commands.delete_game(tournament, game_id, dice, call.now),
        ),
    )


def _changed_game(call: Write[Any], rule: commands.CommandRule) -> Game:
    """Run the rule and return the game, or its last state where the rule removed it."""
    results.find_game(commands.load_tournament(call), call.ids[GAME])
    before = _current_game(call)
    after = commands.run_command(call, rule)
    is_there = any(game.game_id == call.ids[GAME] for game in after.games)
    return _current_game(call) if is_there else before


def _current_game(call: Write[Any]) -> Game:
    """The game as its route shows it: as it was just announced, or read again."""
    # A dry run on a page has no transaction.
    if call.transaction is not None:
        announced: Game | None = call.transaction.announced_models.get("games", {}).get(call.ids[GAME])
        if announced is not None and announced.tournament_id == call.ids[TOURNAMENT]:
            return announced
    return reads.find_game(call.db, call.ids[TOURNAMENT], call.ids[GAME])
