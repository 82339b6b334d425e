"""GET summaries of a completed tournament."""

from silverball.kit.http.endpoints import Access, Call, get
from silverball.service import pages
from silverball.service.summaries import reads
from silverball.service.summaries.reads import PAGE_SIZE, SummaryQuery
from silverball.wire.pages import Page
from silverball.wire.summaries import ArenaSummary, MatchSummary, PlayerArenaSummary

BASE = "/api/tournaments/{tournament_id}/summary"


@get(BASE + "/arenas", query=SummaryQuery, access=Access.OPENABLE)
def list_arena_summaries(call: Call[SummaryQuery]) -> Page[ArenaSummary]:
    """How often each arena was played, after completion."""
    with call.read() as db:
        found = reads.arena_summaries_page(db, call.ids["tournament_id"], call.query)
    return pages.full_page(call, found, per_page=PAGE_SIZE)


@get(BASE + "/player-arenas", query=SummaryQuery, access=Access.OPENABLE)
def list_player_arena_summaries(call: Call[SummaryQuery]) -> Page[PlayerArenaSummary]:
    """How each player did on each arena, after completion."""
    with call.read() as db:
        found = reads.player_arena_summaries_page(db, call.ids["tournament_id"], call.query, call.caller)
    return pages.full_page(call, found, per_page=PAGE_SIZE)


@get(BASE + "/matches", query=SummaryQuery, access=Access.OPENABLE)
def list_match_summaries(call: Call[SummaryQuery]) -> Page[MatchSummary]:
    """How each player did against each opponent on each arena, from both sides, after completion."""
    with call.read() as db:
        found = reads.match_summaries_page(db, call.ids["tournament_id"], call.query, call.caller)
    return pages.full_page(call, found, per_page=PAGE_SIZE)
