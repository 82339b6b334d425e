"""The live view of an amazing race."""

from sqlalchemy import Connection

from silverball.service.formats import reads as formats
from silverball.service.queues import reads as queues
from silverball.service.rounds import reads as rounds
from silverball.service.singleplayer import reads as attempts
from silverball.service.singleplayer.reads import AttemptFilters
from silverball.wire.amazingrace import AmazingRaceState


def state(db: Connection, tournament_id: int) -> AmazingRaceState:
    """Rounds, their games, and who is up. Raises WrongFormat."""
    formats.of_type(db, tournament_id, "amazingrace", "Amazing Race")
    return AmazingRaceState(
        rounds=rounds.of_tournament(db, tournament_id),
        games=attempts.of_tournament(db, tournament_id, AttemptFilters()),
        queues=queues.waiting(db, tournament_id),
    )
