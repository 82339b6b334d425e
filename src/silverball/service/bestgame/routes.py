"""The arenas of a best game over HTTP."""

from silverball.kit.http.endpoints import Access, Call, get
from silverball.kit.http.query import Query
from silverball.service.bestgame import reads
from silverball_wire.bestgame import BestGameDetails, BestGameSummaryRow


@get("/api/tournaments/{tournament_id}/arenas/bgsummary", access=Access.OPENABLE)
def list_best_game_arenas(call: Call[Query]) -> tuple[BestGameSummaryRow, ...]:
    """Arenas of a best game, each with queue and best score."""
    with call.read() as db:
        return reads.best_game_summary(db, call.ids["tournament_id"])


@get("/api/tournaments/{tournament_id}/arenas/{arena_id}/bgdetails", access=Access.OPENABLE)
def show_best_game_arena(call: Call[Query]) -> BestGameDetails:
    """One arena of a best game with its games."""
    with call.read() as db:
        return reads.best_game_details(db, call.ids["tournament_id"], call.ids["arena_id"])
