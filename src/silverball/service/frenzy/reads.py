"""The live view of a frenzy."""

from sqlalchemy import Connection

from silverball.service import durations
from silverball.service.formats import reads as formats
from silverball.service.games.reads import games
from silverball.service.queues import reads as queues
from silverball_wire.frenzy import FrenzyState


def frenzy_state(db: Connection, tournament_id: int) -> FrenzyState:
    """Started games, the queue, and the average wait. Raises WrongFormat."""
    formats.require_clock(db, tournament_id)
    return FrenzyState(
        games=games.started_games(db, tournament_id),
        queue=queues.waiting_spots(db, tournament_id),
        avg_queue_duration=durations.mean_seconds(queues.wait_seconds(db, tournament_id)),
    )
