"""The worth of a tournament over HTTP."""

from silverball.kit.http.endpoints import TOURNAMENT, Access, Call, UncachedResult, get
from silverball.service.worth.reads import estimates
from silverball.service.worth.reads.estimates import WorthQuery
from silverball_wire.worth import TournamentEstimate


@get("/api/tournaments/{tournament_id}/estimate", query=WorthQuery, access=Access.OPENABLE)
def estimate_tournament(call: Call[WorthQuery]) -> UncachedResult[TournamentEstimate]:
    """The federation points that a planned, running or completed tournament gives, and why."""
    with call.read() as db:
        # Other tournaments, the federation's records and simulations change it without a new revision.
        return UncachedResult(estimates.tournament_worth(db, call.ids[TOURNAMENT], call.query).estimate)
