"""Standings, statistics and summaries of a tournament over HTTP."""

from silverball.kit.http.endpoints import Access, Call, ThrottledResult, get
from silverball.kit.http.query import Query
from silverball.service.core import calls
from silverball.service.games.reads import history
from silverball.service.games.reads.history import PastQuery
from silverball.service.standings.reads import standings, stats
from silverball.service.standings.reads.stats import PAGE_SIZE, SummaryQuery
from silverball_wire.pages import Page
from silverball_wire.standings import (
    ArenaStats,
    ArenaSummary,
    BestGameStats,
    MatchplayStats,
    MatchStats,
    MatchSummary,
    PlayerArenaSummary,
    PlayerStats,
    RoundStats,
    Standing,
)


@get("/api/tournaments/{tournament_id}/standings", query=PastQuery, access=Access.OPENABLE)
def list_standings(call: Call[PastQuery]) -> ThrottledResult[tuple[Standing, ...]]:
    """Standings of a tournament. While it runs, they may be fifteen seconds old.

    With `at` they are those after that action of the journal, which do not change any more.
    """
    with call.read() as db:
        if call.query.at is not None:
            tournament = history.tournament_after(db, call.ids["tournament_id"], call.query.at)
            if tournament is not None:
                return ThrottledResult(history.standings_of(tournament), is_throttled=False)
        rows, is_running = standings.tournament_standings(db, call.ids["tournament_id"])
    return ThrottledResult(rows, is_throttled=is_running)


BASE = "/api/tournaments/{tournament_id}/stats"


@get(BASE + "/matchplay", access=Access.OPENABLE)
def show_matchplay_stats(call: Call[Query]) -> MatchplayStats:
    """Number of games, in all and per player."""
    with call.read() as db:
        return stats.match_play_stats(db, call.ids["tournament_id"])


@get(BASE + "/rounds", access=Access.OPENABLE)
def list_round_stats(call: Call[Query]) -> tuple[RoundStats, ...]:
    """Length of each round."""
    with call.read() as db:
        return stats.round_stats(db, call.ids["tournament_id"])


@get(BASE + "/arenas", access=Access.OPENABLE)
def list_arena_stats(call: Call[Query]) -> tuple[ArenaStats, ...]:
    """Length of the games on each arena."""
    with call.read() as db:
        return stats.arena_stats(db, call.ids["tournament_id"])


@get(BASE + "/players", access=Access.OPENABLE)
def show_player_stats(call: Call[Query]) -> PlayerStats:
    """Frequencies of places, arenas and opponents of each player."""
    with call.read() as db:
        return stats.player_stats(db, call.ids["tournament_id"], call.caller)


@get(BASE + "/matches", access=Access.OPENABLE)
def list_match_stats(call: Call[Query]) -> tuple[MatchStats, ...]:
    """Games, wins and losses of each player against each opponent."""
    with call.read() as db:
        return stats.opponent_stats(db, call.ids["tournament_id"], call.caller)


@get(BASE + "/bestgame", access=Access.OPENABLE)
def show_best_game_stats(call: Call[Query]) -> BestGameStats:
    """Numbers of single player games and cards, valid and voided."""
    with call.read() as db:
        return stats.best_game_stats(db, call.ids["tournament_id"])


SUMMARY_BASE = "/api/tournaments/{tournament_id}/summary"


@get(SUMMARY_BASE + "/arenas", query=SummaryQuery, access=Access.OPENABLE)
def list_arena_summaries(call: Call[SummaryQuery]) -> Page[ArenaSummary]:
    """Number of games on each arena, after completion."""
    with call.read() as db:
        rows = stats.arena_summaries_page(db, call.ids["tournament_id"], call.query)
    return calls.full_page(call, rows, per_page=PAGE_SIZE)


@get(SUMMARY_BASE + "/player-arenas", query=SummaryQuery, access=Access.OPENABLE)
def list_player_arena_summaries(call: Call[SummaryQuery]) -> Page[PlayerArenaSummary]:
    """Results of each player on each arena, after completion."""
    with call.read() as db:
        rows = stats.player_arena_summaries_page(db, call.ids["tournament_id"], call.query, call.caller)
    return calls.full_page(call, rows, per_page=PAGE_SIZE)


@get(SUMMARY_BASE + "/matches", query=SummaryQuery, access=Access.OPENABLE)
def list_match_summaries(call: Call[SummaryQuery]) -> Page[MatchSummary]:
    """Results by player, opponent and arena, from both sides."""
    with call.read() as db:
        rows = stats.match_summaries_page(db, call.ids["tournament_id"], call.query, call.caller)
    return calls.full_page(call, rows, per_page=PAGE_SIZE)
