"""Standings over HTTP."""

from silverball.kit.http.endpoints import Access, Call, ThrottledResult, get
from silverball.kit.http.query import Query
from silverball.service.standings import reads
from silverball.wire.standings import Standing


@get("/api/tournaments/{tournament_id}/standings", access=Access.OPENABLE)
def list_standings(call: Call[Query]) -> ThrottledResult[tuple[Standing, ...]]:
    """Standings of a tournament. While it runs, one request in fifteen seconds is enough."""
    with call.read() as db:
        rows, is_running = reads.tournament_standings(db, call.ids["tournament_id"])
    return ThrottledResult(rows, is_throttled=is_running)
