"""The queues of arenas: joining, leaving and moving. Rules: rules/commands/single_player.py."""

from silverball.kit.http.body import Body
from silverball.kit.http.fields import Id
from silverball.rules.commands import single_player as single_player_commands
from silverball.service import access
from silverball.service.calls import Write
from silverball.service.core import commands


class NewQueueSpot(Body, frozen=True, kw_only=True):
    """A player and the arena to wait for."""

    player_id: Id
    """Id of the player who joins the queue."""
    arena_id: Id
    """Id of the arena to wait for."""


def join_queue(call: Write[NewQueueSpot]) -> int:
    """Put a player at the end of an arena's queue; returns the id of the spot."""
    player_id, arena_id = call.body.player_id, call.body.arena_id
    after = commands.run_command(
        call,
        lambda tournament: single_player_commands.join_queue(tournament, player_id, arena_id, call.now),
        is_allowed=access.may_score,
    )
    # The newest spot has the highest id.
    return max(spot.queue_id for spot in after.queue if spot.player_id == player_id)


def leave_queue(call: Write[Body]) -> None:
    """Remove a spot."""
    queue_id = call.ids["queue_id"]
    commands.run_command(
        call,
        lambda tournament: single_player_commands.leave_queue(tournament, queue_id),
        is_allowed=access.may_score,
    )


def move_in_queue(call: Write[Body]) -> int:
    """Swap an absent player with the next one; returns the id of the spot."""
    queue_id = call.ids["queue_id"]
    commands.run_command(
        call,
        lambda tournament: single_player_commands.move_behind_next(tournament, queue_id),
        is_allowed=access.may_score,
    )
    return queue_id


def start_from_queue(call: Write[Body]) -> int:
    """Start the game of the first player in line; returns the id of the single player game."""
    queue_id = call.ids["queue_id"]
    after = commands.run_command(
        call,
        lambda tournament: single_player_commands.start_from_queue(tournament, queue_id, call.now),
        is_allowed=access.may_score,
    )
    player_id = next(spot.player_id for spot in after.queue if spot.queue_id == queue_id)
    started = [
        game.single_player_game_id
        for game in after.single_player_games
        if game.player_id == player_id and game.status == "started"
    ]
    return max(started)
