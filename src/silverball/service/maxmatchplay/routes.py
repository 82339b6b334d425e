"""A max match play over HTTP: the live view, and new matches."""

from silverball.kit.http.body import Body
from silverball.kit.http.endpoints import Access, Call, get, post
from silverball.kit.http.query import Query
from silverball.service.calls import Write
from silverball.service.maxmatchplay import reads, writes
from silverball_wire.games import Game
from silverball_wire.maxmatchplay import MaxMatchplayState
from silverball_wire.pages import Data


@get("/api/tournaments/{tournament_id}/max-matchplay", access=Access.OPENABLE)
def show_max_matchplay(call: Call[Query]) -> MaxMatchplayState:
    """The current games, players and remaining games of a max match play."""
    with call.read() as db:
        return reads.max_matchplay_state(db, call.ids["tournament_id"])


@post("/api/tournaments/{tournament_id}/max-matchplay/games", ability="score", status=201)
def create_max_matchplay_games(call: Write[Body]) -> Data[tuple[Game, ...]]:
    """Create the matches that can start now, as many as players and arenas allow."""
    return Data(data=writes.create_matches(call))
