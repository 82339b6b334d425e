"""The live view of an amazing race."""

from sqlalchemy import Connection

from silverball.service.formats import reads as formats
from silverball.service.queues import reads as queues
from silverball.service.rounds import reads as rounds
from silverball.service.singleplayer import reads as attempts
from silverball.service.singleplayer.reads import SinglePlayerGameFilters
from silverball_wire.amazingrace import AmazingRaceState


def amazing_race_state(db: Connection, tournament_id: int) -> AmazingRaceState:
    """Rounds, their games and the queues. Raises WrongFormat."""
    formats.require_race(db, tournament_id)
    return AmazingRaceState(
        rounds=rounds.rounds_in_tournament(db, tournament_id),
        games=attempts.single_player_games_in_tournament(db, tournament_id, SinglePlayerGameFilters()),
        queues=queues.waiting_spots(db, tournament_id),
    )
