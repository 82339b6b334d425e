"""The clock and the queue of a frenzy."""

from collections.abc import Callable, Sequence
from random import Random
from typing import Any

from silverball.kit.http.body import Body
from silverball.rules.commands import frenzy as frenzy_commands
from silverball.rules.model.changes import Change
from silverball.rules.model.tournament import Tournament
from silverball.service import access
from silverball.service.calls import Write
from silverball.service.core import commands
from silverball.service.frenzy import reads
from silverball.service.frenzy.bodies import ClockAdjustment, NewFrenzySpot
from silverball_wire.frenzy import FrenzyState

TOURNAMENT, QUEUE = "tournament_id", "queue_id"


def pause_clock(call: Write[Body]) -> FrenzyState:
    """Stop the clock."""
    return _run_and_load_state(call, lambda tournament, _dice: frenzy_commands.pause(tournament, call.now))


def resume_clock(call: Write[Body]) -> FrenzyState:
    """Resume the clock."""
    return _run_and_load_state(
        call, lambda tournament, dice: frenzy_commands.resume(tournament, dice, call.now)
    )


def change_clock(call: Write[ClockAdjustment]) -> FrenzyState:
    """Add time to the clock, or take time off."""
    return _run_and_load_state(
        call,
        lambda tournament, dice: frenzy_commands.change_time(tournament, call.body.seconds, dice, call.now),
    )


def start_waiting_players(call: Write[Body]) -> FrenzyState:
    """Start games for waiting players."""
    return _run_and_load_state(
        call,
        lambda tournament, dice: frenzy_commands.start_waiting_games(tournament, dice, call.now),
        is_allowed=access.may_score,
    )


def join_queue(call: Write[NewFrenzySpot]) -> FrenzyState:
    """Put a player into the queue again."""
    player_id = call.body.player_id
    return _run_and_load_state(
        call,
        lambda tournament, dice: frenzy_commands.join_queue(tournament, player_id, dice, call.now),
        is_allowed=access.may_score,
    )


def leave_queue(call: Write[Body]) -> FrenzyState:
    """Remove a player from the queue."""
    return _run_and_load_state(
        call,
        lambda tournament, _dice: frenzy_commands.remove_from_queue(tournament, call.ids[QUEUE]),
        is_allowed=access.may_score,
    )


def send_to_end_of_queue(call: Write[Body]) -> FrenzyState:
    """Move a player to the end of the queue."""
    return _run_and_load_state(
        call,
        lambda tournament, _dice: frenzy_commands.move_to_end(tournament, call.ids[QUEUE]),
        is_allowed=access.may_score,
    )


def _run_and_load_state(
    call: Write[Any],
    rule: Callable[[Tournament, Random], Sequence[Change]],
    *,
    is_allowed: commands.Permission = access.is_organizer,
) -> FrenzyState:
    commands.run_command(
        call,
        lambda tournament: commands.decide_by_draw(
            tournament, f"queue after {len(tournament.games)}", lambda dice: rule(tournament, dice)
        ),
        is_allowed=is_allowed,
    )
    return reads.frenzy_state(call.db, call.ids[TOURNAMENT])
