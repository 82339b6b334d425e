"""GET the live view of a frenzy."""

from silverball.kit.http import Access, Call, get
from silverball.kit.query import Query
from silverball.service.frenzy import reads
from silverball.wire.frenzy import FrenzyState


@get("/api/tournaments/{tournament_id}/frenzy", access=Access.OPENABLE)
def show_frenzy(call: Call[Query]) -> FrenzyState:
    """The frenzy as it stands: games and queue."""
    with call.read() as db:
        return reads.state(db, call.ids["tournament_id"])
