"""Commands that keep a night on time: a timer for rounds, and calls of players to their machine.

Each function returns changes or refuses.
"""

from datetime import datetime, timedelta

from silverball.kit.errors import Conflict
from silverball.kit.values import replace
from silverball.rules.commands import games as game_commands
from silverball.rules.commands import tournament as tournament_commands
from silverball.rules.mechanics import round_timer
from silverball.rules.model.changes import (
    Change,
    ExtraTimeGiven,
    PlayersCalled,
    RoundTimerChanged,
    tournament_changes,
)
from silverball.rules.model.refusals import TournamentIsCompleted
from silverball.rules.model.tournament import Tournament


class RoundsNotTimed(Conflict):
    sentence = "The rounds of this tournament are not opened one after the other, so they have no timer."


class NoRoundRunsOut(Conflict):
    sentence = "No timer runs: set its minutes and open a round first."


class GameClockStands(Conflict):
    sentence = "The clock of this game stands. It has its time once it goes on."


def set_round_timer(tournament: Tournament, minutes: int, now: datetime) -> list[Change]:
    """Give every round so many minutes, the open one from now on; 0 switches the timer off."""
    if tournament.status == "completed":
        raise TournamentIsCompleted(action="set a timer")
    if not tournament_commands.format_of(tournament).can_open_rounds:
        raise RoundsNotTimed
    newest = tournament.newest_round
    is_open = bool(minutes) and newest is not None and newest.status != "completed"
    state = replace(
        tournament.state,
        round_minutes=minutes or None,
        timed_round_id=newest.round_id if newest is not None and is_open else None,
        timed_round_ends_at=now + timedelta(minutes=minutes) if is_open else None,
    )
    return tournament_changes(RoundTimerChanged, tournament, state=state)


def extend_round(tournament: Tournament, minutes: int, now: datetime) -> list[Change]:
    """Add minutes to the open round, from now on where its time is up; below 0 they are taken off."""
    tournament_commands.require_started(tournament)
    ends_at, newest = round_timer.round_ends_at(tournament), tournament.newest_round
    if ends_at is None or newest is None:
        raise NoRoundRunsOut
    extended = max(ends_at, now) + timedelta(minutes=minutes)
    state = replace(tournament.state, timed_round_id=newest.round_id, timed_round_ends_at=max(extended, now))
    return tournament_changes(RoundTimerChanged, tournament, state=state)


def give_extra_time(tournament: Tournament, game_id: int, minutes: int, now: datetime) -> list[Change]:
    """Add minutes to one open game, from now on where its time is up.

    Raises NotFound, and Conflict for a game with a result, while its clock stands, and without a timer.
    """
    game = game_commands.find_open_game(tournament, game_id)
    if round_timer.round_ends_at(tournament) is None:
        raise NoRoundRunsOut
    ends_at = round_timer.game_ends_at(tournament, game)
    if ends_at is None:
        raise GameClockStands
    ends = tournament.state.extended_ends
    # As with calls, games that have ended are dropped.
    still_open = {
        open_.game_id: ends[open_.game_id] for open_ in tournament.open_games if open_.game_id in ends
    }
    own_end = max(ends_at, now) + timedelta(minutes=minutes)
    state = replace(tournament.state, game_ends={**still_open, game.game_id: own_end})
    return tournament_changes(ExtraTimeGiven, tournament, state=state)


def call_players(tournament: Tournament, game_id: int, now: datetime) -> list[Change]:
    """Call the players of an open game to their machine, once more if they were called before."""
    game = game_commands.find_open_game(tournament, game_id)
    calls = tournament.state.calls
    # Games that have ended are dropped, so that the memory stays as small as the open round.
    still_open = {
        open_.game_id: calls[open_.game_id] for open_ in tournament.open_games if open_.game_id in calls
    }
    state = replace(tournament.state, calls={**still_open, game.game_id: now})
    return tournament_changes(PlayersCalled, tournament, state=state)
