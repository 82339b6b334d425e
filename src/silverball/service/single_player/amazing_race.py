"""The live view of an amazing race over HTTP."""

from sqlalchemy import Connection

from silverball.kit.http.endpoints import Access, Call, get
from silverball.kit.http.query import Query
from silverball.service.rounds import reads as rounds
from silverball.service.single_player import reads
from silverball.service.single_player.reads import SinglePlayerGameFilters
from silverball.service.tournaments.reads import tournaments
from silverball_wire.queues import AmazingRaceState


def amazing_race_state(db: Connection, tournament_id: int) -> AmazingRaceState:
    """Rounds, their games and the queues. Raises WrongFormat."""
    tournaments.require_race(db, tournament_id)
    return AmazingRaceState(
        rounds=rounds.rounds_in_tournament(db, tournament_id),
        games=reads.single_player_games_in_tournament(db, tournament_id, SinglePlayerGameFilters()),
        queues=reads.waiting_spots(db, tournament_id),
    )


@get("/api/tournaments/{tournament_id}/amazing-race", access=Access.OPENABLE)
def show_amazing_race(call: Call[Query]) -> AmazingRaceState:
    """The current rounds, games and queues of an amazing race."""
    with call.read() as db:
        return amazing_race_state(db, call.ids["tournament_id"])
