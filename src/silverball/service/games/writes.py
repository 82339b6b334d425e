"""What is done to single games."""

from typing import Any

from msgspec import UnsetType

from silverball.kit.errors import Invalid
from silverball.kit.http.body import Body
from silverball.kit.http.endpoints import AbilityMissing
from silverball.rules.commands import games as game_commands
from silverball.rules.commands import tournament as tournament_commands
from silverball.rules.mechanics import results
from silverball.rules.model.apply import apply_changes
from silverball.rules.model.changes import Change
from silverball.rules.model.tournament import Tournament
from silverball.service import access
from silverball.service.access import AuthenticatedCaller
from silverball.service.calls import Write
from silverball.service.core import commands
from silverball.service.games import overwriting
from silverball.service.games.bodies import EnteredResult, GamePatch, NewGame, SeatedPlayer
from silverball.service.games.reads import games as reads
from silverball.wire.games import Game

TOURNAMENT, GAME, PLAYER = "tournament_id", "game_id", "player_id"


def record_result(call: Write[EnteredResult]) -> Game:
    """The result of a game: once by whoever keeps scores, again only by the organizer."""
    game_id = call.ids[GAME]
    said = call.body.outcome(game_id, call.actor_id)

    def rule(t: Tournament) -> commands.Decision:
        results.find_game(t, game_id)
        made = commands.decide_by_draw(
            t,
            f"result of game {game_id}",
            lambda dice: tournament_commands.record_result(t, said, dice, call.now),
        )
        overwriting.refuse_overwrite(call, t, game_id, made.changes)
        return made

    commands.run_command(call, rule, is_allowed=access.may_score)
    return _current_game(call)


def clear_result(call: Write[Body]) -> Game:
    """A result taken away; answers the game, as it was where it went with its result."""
    return _changed_game(call, lambda t: tournament_commands.clear_result(t, call.ids[GAME]))


def change_game(call: Write[GamePatch]) -> Game:
    """Another order, arena or player for an open game."""
    game_id = call.ids[GAME]
    body = call.body

    def rule(t: Tournament) -> list[Change]:
        changes: list[Change] = []
        if not isinstance(body.swap, UnsetType):
            if body.swap.player_id not in results.find_game(t, game_id).player_ids:
                raise Invalid({"swap.playerId": [f"Player {body.swap.player_id} is not in game {game_id}."]})
            changes += game_commands.swap_players(t, body.swap.player_id, body.swap.with_player_id)
        if not isinstance(body.arena_id, UnsetType):
            changes += game_commands.change_arena(apply_changes(t, changes), game_id, body.arena_id)
        if not isinstance(body.player_ids, UnsetType):
            changes += game_commands.change_order(apply_changes(t, changes), game_id, body.player_ids)
        return changes

    def may(caller: AuthenticatedCaller, t: Tournament) -> bool:
        return _may_change_order(caller, t, game_id) if body.is_order_only else access.is_organizer(caller, t)

    if not body.is_order_only and not call.caller.may("manage"):
        raise AbilityMissing
    commands.run_command(call, rule, is_allowed=may)
    return _current_game(call)


def _may_change_order(caller: AuthenticatedCaller, tournament: Tournament, game_id: int) -> bool:
    """Whoever keeps scores, and the players of the game where the order is open to them."""
    if access.may_score(caller, tournament):
        return True
    is_open = getattr(tournament.settings, "player_order_open", "scorekeepers") == "players"
    return is_open and access.plays_in(caller, tournament, results.find_game(tournament, game_id))


def redraw_arena(call: Write[Body]) -> Game:
    """Another arena for an open game, by lot."""
    game_id = call.ids[GAME]

    def rule(t: Tournament) -> commands.Decision:
        arena_id = results.find_game(t, game_id).arena_id
        draw = f"arena of game {game_id} after {arena_id}"
        return commands.decide_by_draw(t, draw, lambda dice: game_commands.redraw_arena(t, game_id, dice))

    commands.run_command(call, rule)
    return _current_game(call)


def add_player(call: Write[SeatedPlayer]) -> Game:
    """A player joins a game of the open round."""
    game_id, player_id = call.ids[GAME], call.body.player_id
    return _changed_game(
        call,
        lambda t: commands.decide_by_draw(
            t,
            f"seat in game {game_id}",
            lambda d: game_commands.add_player(t, game_id, player_id, d, call.now),
        ),
    )


def remove_player(call: Write[Body]) -> Game:
    """A player taken out of an open game."""
    return _changed_game(call, lambda t: game_commands.remove_player(t, call.ids[GAME], call.ids[PLAYER]))


def create_game(call: Write[NewGame]) -> Game:
    """A game of chosen players."""
    before = {one.game_id for one in commands.load_tournament(call).games}
    body = call.body
    arena_id = body.arena_id if isinstance(body.arena_id, int) else None
    after = commands.run_command(
        call,
        lambda t: commands.decide_by_draw(
            t,
            f"game {len(t.games)}",
            lambda dice: game_commands.create_game(t, body.player_ids, arena_id, dice=dice, now=call.now),
        ),
    )
    (made,) = (one.game_id for one in after.games if one.game_id not in before)
    return reads.find_game(call.db, call.ids[TOURNAMENT], made)


def delete_game(call: Write[Body]) -> Game:
    """A game taken out; answers what it was."""
    game_id = call.ids[GAME]
    return _changed_game(
        call,
        lambda t: commands.decide_by_draw(
            t, f"end of game {game_id}", lambda dice: game_commands.delete_game(t, game_id, dice, call.now)
        ),
    )


def _changed_game(call: Write[Any], rule: commands.CommandRule) -> Game:
    """The game after what the rule states; as it was before where it is gone."""
    results.find_game(commands.load_tournament(call), call.ids[GAME])
    before = _current_game(call)
    after = commands.run_command(call, rule)
    is_there = any(one.game_id == call.ids[GAME] for one in after.games)
    return _current_game(call) if is_there else before


def _current_game(call: Write[Any]) -> Game:
    return reads.find_game(call.db, call.ids[TOURNAMENT], call.ids[GAME])
