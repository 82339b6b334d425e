"""Summaries of a completed tournament over HTTP."""

from silverball.kit.http.endpoints import Access, Call, get
from silverball.service import pages
from silverball.service.summaries import reads
from silverball.service.summaries.reads import PAGE_SIZE, SummaryQuery
from silverball_wire.pages import Page
from silverball_wire.summaries import ArenaSummary, MatchSummary, PlayerArenaSummary

BASE = "/api/tournaments/{tournament_id}/summary"


@get(BASE + "/arenas", query=SummaryQuery, access=Access.OPENABLE)
def list_arena_summaries(call: Call[SummaryQuery]) -> Page[ArenaSummary]:
    """Number of games on each arena, after completion."""
    with call.read() as db:
        rows = reads.arena_summaries_page(db, call.ids["tournament_id"], call.query)
    return pages.full_page(call, rows, per_page=PAGE_SIZE)


@get(BASE + "/player-arenas", query=SummaryQuery, access=Access.OPENABLE)
def list_player_arena_summaries(call: Call[SummaryQuery]) -> Page[PlayerArenaSummary]:
    """Results of each player on each arena, after completion."""
    with call.read() as db:
        rows = reads.player_arena_summaries_page(db, call.ids["tournament_id"], call.query, call.caller)
    return pages.full_page(call, rows, per_page=PAGE_SIZE)


@get(BASE + "/matches", query=SummaryQuery, access=Access.OPENABLE)
def list_match_summaries(call: Call[SummaryQuery]) -> Page[MatchSummary]:
    """Results of each player against each opponent on each arena, from both sides, after completion."""
    with call.read() as db:
        rows = reads.match_summaries_page(db, call.ids["tournament_id"], call.query, call.caller)
    return pages.full_page(call, rows, per_page=PAGE_SIZE)
