"""Statistics of a tournament over HTTP."""

from silverball.kit.http.endpoints import Access, Call, get
from silverball.kit.http.query import Query
from silverball.service.stats import reads
from silverball_wire.stats import (
    ArenaStats,
    BestGameStats,
    MatchplayStats,
    MatchStats,
    PlayerStats,
    RoundStats,
)

BASE = "/api/tournaments/{tournament_id}/stats"


@get(BASE + "/matchplay", access=Access.OPENABLE)
def show_matchplay_stats(call: Call[Query]) -> MatchplayStats:
    """Number of games, in all and per player."""
    with call.read() as db:
        return reads.match_play_stats(db, call.ids["tournament_id"])


@get(BASE + "/rounds", access=Access.OPENABLE)
def list_round_stats(call: Call[Query]) -> tuple[RoundStats, ...]:
    """Length of each round."""
    with call.read() as db:
        return reads.round_stats(db, call.ids["tournament_id"])


@get(BASE + "/arenas", access=Access.OPENABLE)
def list_arena_stats(call: Call[Query]) -> tuple[ArenaStats, ...]:
    """Length of the games on each arena."""
    with call.read() as db:
        return reads.arena_stats(db, call.ids["tournament_id"])


@get(BASE + "/players", access=Access.OPENABLE)
def show_player_stats(call: Call[Query]) -> PlayerStats:
    """Frequencies of places, arenas and opponents of each player."""
    with call.read() as db:
        return reads.player_stats(db, call.ids["tournament_id"], call.caller)


@get(BASE + "/matches", access=Access.OPENABLE)
def list_match_stats(call: Call[Query]) -> tuple[MatchStats, ...]:
    """Games, wins and losses of each player against each opponent."""
    with call.read() as db:
        return reads.opponent_stats(db, call.ids["tournament_id"], call.caller)


@get(BASE + "/bestgame", access=Access.OPENABLE)
def show_best_game_stats(call: Call[Query]) -> BestGameStats:
    """Numbers of single player games and cards, valid and voided."""
    with call.read() as db:
        return reads.best_game_stats(db, call.ids["tournament_id"])
