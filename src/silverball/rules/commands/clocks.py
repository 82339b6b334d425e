"""Commands on a running frenzy: its clock and its queue. Source: formats, section 14.14.

Each function returns changes or refuses.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from random import Random

from silverball.kit.errors import Conflict, Invalid
from silverball.kit.values import replace
from silverball.rules.commands import games as game_commands
from silverball.rules.commands import tournament as tournament_commands
from silverball.rules.families import frenzy as frenzy_family
from silverball.rules.families import max_matchplay as max_matchplay_family
from silverball.rules.mechanics import queues, rounds
from silverball.rules.model.apply import apply_changes
from silverball.rules.model.changes import (
    Change,
    ExtraTimeGiven,
    PlayersCalled,
    RoundTimerChanged,
    tournament_changes,
)
from silverball.rules.model.refusals import NotAFrenzy, NotAMaxMatchPlay, TournamentIsCompleted
from silverball.rules.model.tournament import Tournament


class FrenzyNotRunning(Conflict):
    sentence = "The frenzy is not running. Start it or reopen it first."


class FrenzyWithoutQueue(Conflict):
    sentence = "This frenzy has no queue: the organizer makes the games."


class ClockNotRunning(Conflict):
    sentence = "The clock does not run: it is paused already, or the time is over."


class ClockNotPaused(Conflict):
    sentence = "The clock is not paused."


class NoGameCanStart(Conflict):
    sentence = "No game can start now: no arena is free, too few wait, or the clock does not run."


class PlayerCannotWait(Conflict):
    sentence = "{player} plays or waits already, or is not active."


def pause(tournament: Tournament, now: datetime) -> list[Change]:
    """Stop the clock: open games continue, no new one starts. Raises Conflict when it does not run."""
    _require_clock(tournament)
    if not frenzy_family.is_clock_running(tournament, now):
        raise ClockNotRunning
    return frenzy_family.set_clock(tournament, ends=None, paused=frenzy_family.seconds_left(tournament, now))


def resume(tournament: Tournament, dice: Random, now: datetime) -> list[Change]:
    """Resume the clock and start waiting players. Raises Conflict when it is not paused."""
    _require_clock(tournament)
    left = frenzy_family.paused_seconds(tournament)
    if not left:
        raise ClockNotPaused
    changes = frenzy_family.set_clock(tournament, ends=now + timedelta(seconds=left), paused=0)
    return [*changes, *frenzy_family.fill_arenas(apply_changes(tournament, changes), dice, now)]


def change_time(tournament: Tournament, seconds: int, dice: Random, now: datetime) -> list[Change]:
    """Add seconds to the clock or remove some; time added after the end restarts it.

    Raises Invalid when more is removed than is left.
    """
    _require_clock(tournament)
    left = frenzy_family.seconds_left(tournament, now) + seconds
    if left < 0 or (left == 0 and frenzy_family.paused_seconds(tournament)):
        raise Invalid({"seconds": [f"Only {left - seconds} seconds are left. Take off fewer."]})
    if frenzy_family.paused_seconds(tournament):
        return frenzy_family.set_clock(tournament, ends=None, paused=left)
    changes = frenzy_family.set_clock(tournament, ends=now + timedelta(seconds=left), paused=0)
    return [*changes, *frenzy_family.fill_arenas(apply_changes(tournament, changes), dice, now)]


def start_waiting_games(tournament: Tournament, dice: Random, now: datetime) -> list[Change]:
    """Open games for waiting players on free arenas. Raises Conflict when none can start."""
    _require_clock(tournament)
    changes = frenzy_family.fill_arenas(tournament, dice, now)
    if not changes:
        raise NoGameCanStart
    return changes


def has_running_queue(tournament: Tournament) -> bool:
    """Whether games follow from a queue by themselves."""
    form = tournament_commands.format_of(tournament)
    return form.has_clock and tournament.status == "started" and frenzy_family.has_queue(tournament)


def fill_free_machines(tournament: Tournament, dice: Random, now: datetime) -> list[Change]:
    """Open games for waiting players on free arenas; none when none can start."""
    return frenzy_family.fill_arenas(tournament, dice, now)


def join_queue(tournament: Tournament, player_id: int, dice: Random, now: datetime) -> list[Change]:
    """Put a player back at the end of the queue.

    Raises Conflict for a player who plays, waits or is inactive.
    """
    _require_queue(tournament)
    changes = frenzy_family.join_at_end(tournament, [player_id], now)
    if not changes:
        raise PlayerCannotWait(player=player_id)
    return [*changes, *frenzy_family.fill_arenas(apply_changes(tournament, changes), dice, now)]


def remove_from_queue(tournament: Tournament, queue_id: int) -> list[Change]:
    """Take a waiting player out of the queue; the player stays in the tournament and may join again."""
    _require_queue(tournament)
    return queues.leave_queue(tournament, queues.find_spot(tournament, queue_id))


def move_to_end(tournament: Tournament, queue_id: int) -> list[Change]:
    """Send a waiting player to the end of the queue. Raises Conflict for the last one."""
    _require_queue(tournament)
    return queues.move_to_end(tournament, queues.find_spot(tournament, queue_id))


def _require_clock(tournament: Tournament) -> None:
    if not tournament_commands.format_of(tournament).has_clock:
        raise NotAFrenzy
    if tournament.status != "started":
        raise FrenzyNotRunning


def _require_queue(tournament: Tournament) -> None:
    _require_clock(tournament)
    if not frenzy_family.has_queue(tournament):
        raise FrenzyWithoutQueue


# Commands that keep a night on time: a timer for rounds, and calls of players to their machine.


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
    ends_at, newest = rounds.round_ends_at(tournament), tournament.newest_round
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
    if rounds.round_ends_at(tournament) is None:
        raise NoRoundRunsOut
    ends_at = rounds.game_ends_at(tournament, game)
    if ends_at is None:
        raise GameClockStands
    own_end = max(ends_at, now) + timedelta(minutes=minutes)
    ends = _times_of_open_games(tournament, tournament.state.extended_ends) | {game.game_id: own_end}
    state = replace(tournament.state, game_ends=ends)
    return tournament_changes(ExtraTimeGiven, tournament, state=state)


def call_players(tournament: Tournament, game_id: int, now: datetime) -> list[Change]:
    """Call the players of an open game to their machine, once more if they were called before."""
    game = game_commands.find_open_game(tournament, game_id)
    calls = _times_of_open_games(tournament, tournament.state.calls) | {game.game_id: now}
    return tournament_changes(PlayersCalled, tournament, state=replace(tournament.state, calls=calls))


def _times_of_open_games(tournament: Tournament, times: Mapping[int, datetime]) -> dict[int, datetime]:
    """The times of games that still run, so that the memory stays as small as the open round."""
    return {game.game_id: times[game.game_id] for game in tournament.open_games if game.game_id in times}


# The command that draws the next matches of a max match play. Source: formats, section 14.5.


class TournamentNotRunning(Conflict):
    sentence = "The tournament is not running. Start it or reopen it first."


def create_matches(tournament: Tournament, dice: Random, now: datetime) -> list[Change]:
    """Open the matches that can be played now. Raises Conflict with the reason when there is none."""
    if not tournament_commands.format_of(tournament).has_match_requests:
        raise NotAMaxMatchPlay
    if tournament.status != "started":
        raise TournamentNotRunning
    return max_matchplay_family.create_matches(tournament, dice, now)
