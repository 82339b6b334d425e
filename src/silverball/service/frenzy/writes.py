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
from silverball.wire.frenzy import FrenzyState

TOURNAMENT, QUEUE = "tournament_id", "queue_id"


def pause_clock(call: Write[Body]) -> FrenzyState:
    """The clock stops."""
    return _run_and_load_state(call, lambda t, _dice: frenzy_commands.pause(t, call.now))


def resume_clock(call: Write[Body]) -> FrenzyState:
    """The clock runs on."""
    return _run_and_load_state(call, lambda t, dice: frenzy_commands.resume(t, dice, call.now))


def change_clock(call: Write[ClockAdjustment]) -> FrenzyState:
    """More or less time."""
    return _run_and_load_state(
        call, lambda t, dice: frenzy_commands.change_time(t, call.body.seconds, dice, call.now)
    )


def start_waiting_players(call: Write[Body]) -> FrenzyState:
    """Games for whoever waits."""
    return _run_and_load_state(
        call, lambda t, dice: frenzy_commands.start_waiting_games(t, dice, call.now), may=access.may_score
    )


def join_queue(call: Write[NewFrenzySpot]) -> FrenzyState:
    """A player waits again."""
    player_id = call.body.player_id
    return _run_and_load_state(
        call, lambda t, dice: frenzy_commands.join_queue(t, player_id, dice, call.now), may=access.may_score
    )


def leave_queue(call: Write[Body]) -> FrenzyState:
    """Somebody waits no more."""
    return _run_and_load_state(
        call, lambda t, _dice: frenzy_commands.remove_from_queue(t, call.ids[QUEUE]), may=access.may_score
    )


def send_to_end_of_queue(call: Write[Body]) -> FrenzyState:
    """Somebody lets all others go first."""
    return _run_and_load_state(
        call, lambda t, _dice: frenzy_commands.move_to_end(t, call.ids[QUEUE]), may=access.may_score
    )


def _run_and_load_state(
    call: Write[Any],
    rule: Callable[[Tournament, Random], Sequence[Change]],
    *,
    may: commands.Permission = access.is_organizer,
) -> FrenzyState:
    commands.run_command(
        call,
        lambda t: commands.decide_by_draw(t, f"queue after {len(t.games)}", lambda dice: rule(t, dice)),
        is_allowed=may,
    )
    return reads.frenzy_state(call.db, call.ids[TOURNAMENT])
