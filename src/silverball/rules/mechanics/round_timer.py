"""The round timer: when the open round runs out of time."""

from datetime import datetime, timedelta

from msgspec import UNSET

from silverball.rules.model.tournament import Game, Tournament


def round_ends_at(tournament: Tournament) -> datetime | None:
    """When the time of the open round is up; None without a timer, and while no round is open."""
    state, newest = tournament.state, tournament.newest_round
    if state.round_minutes is None or tournament.status != "started":
        return None
    if newest is None or newest.status == "completed":
        return None
    if state.timed_round_id == newest.round_id:
        return state.timed_round_ends_at
    opened_at = newest.created_at
    return None if opened_at is None else opened_at + timedelta(minutes=state.round_minutes)


def game_ends_at(tournament: Tournament, game: Game) -> datetime | None:
    """When the time of a game of the open round is up; None without a timer, and while its clock stands.

    A game that waited for its machine, or was started over on another one, began later than its round:
    it has so much more time.
    """
    ends_at, newest = round_ends_at(tournament), tournament.newest_round
    if ends_at is None or newest is None or game.waiting_since is not UNSET:
        return None
    if game.round_id != newest.round_id or game.started_at is None or newest.created_at is None:
        return ends_at
    return ends_at + max(game.started_at - newest.created_at, timedelta())
