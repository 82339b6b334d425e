"""Standings over HTTP."""

from silverball.kit.http.endpoints import Access, Call, ThrottledResult, get
from silverball.service.history import reads as history
from silverball.service.history.reads import PastQuery
from silverball.service.standings import reads
from silverball_wire.standings import Standing


@get("/api/tournaments/{tournament_id}/standings", query=PastQuery, access=Access.OPENABLE)
def list_standings(call: Call[PastQuery]) -> ThrottledResult[tuple[Standing, ...]]:
    """Standings of a tournament. While it runs, one request in fifteen seconds is enough.

    With `at` they are those after that action of the journal, which do not change any more.
    """
    with call.read() as db:
        if call.query.at is not None:
            tournament = history.tournament_after(db, call.ids["tournament_id"], call.query.at)
            if tournament is not None:
                return ThrottledResult(history.standings_of(tournament), is_throttled=False)
        rows, is_running = reads.tournament_standings(db, call.ids["tournament_id"])
    return ThrottledResult(rows, is_throttled=is_running)
