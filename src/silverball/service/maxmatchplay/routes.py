"""GET the live view of a max match play."""

from silverball.kit.http import Access, Call, get
from silverball.kit.query import Query
from silverball.service.maxmatchplay import reads
from silverball.wire.maxmatchplay import MaxMatchplayState


@get("/api/tournaments/{tournament_id}/max-matchplay", access=Access.OPENABLE)
def show_max_matchplay(call: Call[Query]) -> MaxMatchplayState:
    """The max match play as it stands: games, players and what is left."""
    with call.read() as db:
        return reads.state(db, call.ids["tournament_id"])
