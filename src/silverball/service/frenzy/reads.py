"""The live view of a frenzy."""

from sqlalchemy import Connection

from silverball.service import seconds
from silverball.service.formats import reads as formats
from silverball.service.games import reads as games
from silverball.service.queues import reads as queues
from silverball.wire.frenzy import FrenzyState


def state(db: Connection, tournament_id: int) -> FrenzyState:
    """Started games, who waits, and how long the others waited. Raises WrongFormat."""
    formats.of_type(db, tournament_id, "frenzy", "Frenzy")
    return FrenzyState(
        games=games.started(db, tournament_id),
        queue=queues.waiting(db, tournament_id),
        avg_queue_duration=seconds.mean(queues.waits_seconds(db, tournament_id)),
    )
