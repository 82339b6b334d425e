"""Joining, leaving and moving in the queues of arenas. Rules: rules/commands/single_player.py."""

from silverball.kit.http.body import Body
from silverball.kit.http.fields import Id
from silverball.rules.commands import single_player as single_player_commands
from silverball.service import access
from silverball.service.calls import Write
from silverball.service.core import commands


class NewQueueSpot(Body, frozen=True, kw_only=True):
    """Who is to wait, and for what arena."""

    player_id: Id
    arena_id: Id


def join_queue(call: Write[NewQueueSpot]) -> int:
    """A player at the end of an arena's queue; returns the id of the spot."""
    player_id, arena_id = call.body.player_id, call.body.arena_id
    after = commands.run_command(
        call,
        lambda one: single_player_commands.join_queue(one, player_id, arena_id, call.now),
        is_allowed=access.may_score,
    )
    # What is new has the highest id.
    return max(one.queue_id for one in after.queue if one.player_id == player_id)


def leave_queue(call: Write[Body]) -> None:
    """A spot given up."""
    queue_id = call.ids["queue_id"]
    commands.run_command(
        call, lambda one: single_player_commands.leave_queue(one, queue_id), is_allowed=access.may_score
    )


def move_in_queue(call: Write[Body]) -> int:
    """Who does not come goes behind the next one; returns the id of the spot."""
    queue_id = call.ids["queue_id"]
    commands.run_command(
        call, lambda one: single_player_commands.move_behind_next(one, queue_id), is_allowed=access.may_score
    )
    return queue_id


def start_from_queue(call: Write[Body]) -> int:
    """Who is up begins to play; returns the id of the single player game."""
    queue_id = call.ids["queue_id"]
    after = commands.run_command(
        call,
        lambda one: single_player_commands.start_from_queue(one, queue_id, call.now),
        is_allowed=access.may_score,
    )
    player_id = next(one.player_id for one in after.queue if one.queue_id == queue_id)
    begun = [
        one.single_player_game_id
        for one in after.single_player_games
        if one.player_id == player_id and one.status == "started"
    ]
    return max(begun)
