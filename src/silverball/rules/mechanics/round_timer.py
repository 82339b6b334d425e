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
    it has so much more time. Extra time for the game alone comes on top.
    """
    ends_at, newest = round_ends_at(tournament), tournament.newest_round
    if ends_at is None or newest is None or game.waiting_since is not UNSET:
        return None
    if game.round_id == newest.round_id and game.started_at is not None and newest.created_at is not None:
        ends_at += max(game.started_at - newest.created_at, timedelta())
    return max(ends_at, tournament.state.extended_ends.get(game.game_id, ends_at))


def late_games(tournament: Tournament, now: datetime) -> list[tuple[Game, timedelta]]:
    """The open games whose time is up, and for how long it has been, the latest first."""
    ends = [(game, game_ends_at(tournament, game)) for game in tournament.open_games]
    late = [(game, now - ends_at) for game, ends_at in ends if ends_at is not None and ends_at <= now]
    return sorted(late, key=lambda pair: (-pair[1], pair[0].game_id))
