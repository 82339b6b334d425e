"""GET standings."""

from silverball.kit.http import Access, Call, Paced, get
from silverball.kit.query import Query
from silverball.service.standings import reads
from silverball.wire.standings import Standing


@get("/api/tournaments/{tournament_id}/standings", access=Access.OPENABLE)
def list_standings(call: Call[Query]) -> Paced[tuple[Standing, ...]]:
    """Standings of a tournament. While it runs, one request in fifteen seconds is enough."""
    with call.read() as db:
        rows, is_running = reads.of_tournament(db, call.ids["tournament_id"])
    return Paced(rows, at_most_every=is_running)
