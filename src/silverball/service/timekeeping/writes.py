"""The round timer, and calls of players."""

from silverball.kit.http.body import Body
from silverball.rules.commands import timekeeping
from silverball.rules.model.tournament import Tournament
from silverball.service import access
from silverball.service.calls import Write
from silverball.service.core import commands
from silverball.service.timekeeping.bodies import ExtraTime, MoreTime, RoundMinutes


def set_round_timer(call: Write[RoundMinutes]) -> Tournament:
    """Set the minutes of every round, or switch the timer off."""
    return commands.run_command(
        call, lambda tournament: timekeeping.set_round_timer(tournament, call.body.minutes, call.now)
    )


def extend_round(call: Write[MoreTime]) -> Tournament:
    """Give the open round more time, or less."""
    return commands.run_command(
        call, lambda tournament: timekeeping.extend_round(tournament, call.body.minutes, call.now)
    )


def give_extra_time(call: Write[ExtraTime]) -> Tournament:
    """Give one game more time."""
    return commands.run_command(
        call,
        lambda tournament: timekeeping.give_extra_time(
            tournament, call.ids["game_id"], call.body.minutes, call.now
        ),
    )


def call_players(call: Write[Body]) -> Tournament:
    """Call the players of a game to their machine."""
    return commands.run_command(
        call,
        lambda tournament: timekeeping.call_players(tournament, call.ids["game_id"], call.now),
        is_allowed=access.may_score,
    )
