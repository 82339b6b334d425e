"""The round timer: when the open round runs out of time."""

from datetime import datetime, timedelta

from silverball.rules.model.tournament import Tournament


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
