"""The round timer and the calls of a tournament, as the interface shows them."""

from silverball.rules.mechanics import round_timer
from silverball.rules.model.tournament import Tournament
from silverball_wire import times
from silverball_wire.base import UNSET
from silverball_wire.timekeeping import CalledGame, ExtendedGame, RoundTimer


def round_timer_of(tournament: Tournament) -> RoundTimer:
    """The timer of the open round, and the open games whose players were called."""
    ends_at, newest = round_timer.round_ends_at(tournament), tournament.newest_round
    calls = tournament.state.calls
    ends = tournament.state.extended_ends
    extended_ids = sorted(game.game_id for game in tournament.open_games if game.game_id in ends)
    open_ids = sorted(game.game_id for game in tournament.open_games if game.game_id in calls)
    return RoundTimer(
        minutes=tournament.state.round_minutes,
        round_id=None if ends_at is None or newest is None else newest.round_id,
        ends_at=times.iso_or_none(ends_at),
        called_games=tuple(
            CalledGame(game_id=game_id, called_at=times.iso(calls[game_id])) for game_id in open_ids
        ),
        extended_games=tuple(
            ExtendedGame(game_id=game_id, ends_at=times.iso(ends[game_id])) for game_id in extended_ids
        )
        or UNSET,
    )
