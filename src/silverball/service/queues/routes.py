"""GET queues."""

from silverball.kit.http import Access, Call, get
from silverball.kit.query import Query
from silverball.service.queues import reads
from silverball.wire.queues import ArenaQueues


@get("/api/tournaments/{tournament_id}/queues", access=Access.OPENABLE)
def show_queues(call: Call[Query]) -> ArenaQueues:
    """Queues of a best game, by arena."""
    with call.read() as db:
        return reads.by_arena(db, call.ids["tournament_id"])
