"""Tournaments over HTTP."""

from silverball.kit.http import Access, Call, get
from silverball.service import pages
from silverball.service.tournaments import reads
from silverball.service.tournaments.reads import parts
from silverball.wire.pages import Data, SimplePage
from silverball.wire.tournaments import Tournament


@get("/api/tournaments", query=reads.TournamentQuery, access=Access.OPENABLE)
def list_tournaments(call: Call[reads.TournamentQuery]) -> SimplePage[Tournament]:
    """Tournaments, newest first."""
    query = call.query
    with call.read() as db:
        found = reads.page(db, query, call.caller)
    return pages.simple_page(call, found, per_page=query.per_page, per_page_shown=query.per_page_shown)


@get("/api/tournaments/{tournament_id}", query=parts.PartsQuery, access=Access.OPENABLE)
def one_tournament(call: Call[parts.PartsQuery]) -> Data[Tournament]:
    """A tournament with the parts that are asked for."""
    with call.read() as db:
        return Data(data=parts.one(db, call.ids["tournament_id"], call.query, call.caller))
