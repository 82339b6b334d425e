"""Draws over HTTP."""

from silverball.kit.http.endpoints import TOURNAMENT, Access, Call, get
from silverball.kit.http.query import Query
from silverball.service.draws import reads
from silverball_wire.draws import TournamentDraws
from silverball_wire.pages import Data


@get("/api/tournaments/{tournament_id}/draws", access=Access.OPENABLE)
def show_draws(call: Call[Query]) -> Data[TournamentDraws]:
    """How a tournament was drawn: its seeds, and what was done to each draw by hand."""
    with call.read() as db:
        return Data(data=reads.tournament_draws(db, call.ids[TOURNAMENT]))
