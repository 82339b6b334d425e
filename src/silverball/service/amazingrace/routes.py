"""The live view of an amazing race over HTTP."""

from silverball.kit.http.endpoints import Access, Call, get
from silverball.kit.http.query import Query
from silverball.service.amazingrace import reads
from silverball_wire.amazingrace import AmazingRaceState


@get("/api/tournaments/{tournament_id}/amazing-race", access=Access.OPENABLE)
def show_amazing_race(call: Call[Query]) -> AmazingRaceState:
    """The current rounds, games and queues of an amazing race."""
    with call.read() as db:
        return reads.amazing_race_state(db, call.ids["tournament_id"])
