"""Plans of nights, and the worth and the forecast of a tournament, over HTTP."""

from silverball.kit.http.endpoints import TOURNAMENT, Access, Call, UncachedResult, get, read_post
from silverball.kit.http.query import Query
from silverball.service.outlook.reads import forecasts, planning, worth
from silverball.service.outlook.reads.planning import PlanQuery
from silverball.service.outlook.reads.worth import WorthQuery
from silverball_wire.pages import Data
from silverball_wire.plans import Forecast, Plan, TournamentEstimate


@read_post("/api/plan", query=PlanQuery, access=Access.OWN)
def plan_night(call: Call[PlanQuery]) -> Data[Plan]:
    """Plan a night: each format and number of rounds, and when it would end."""
    with call.read() as db:
        return Data(data=planning.plan(db, call.query, call.user_id, call.now))


@get("/api/tournaments/{tournament_id}/estimate", query=WorthQuery, access=Access.OPENABLE)
def estimate_tournament(call: Call[WorthQuery]) -> UncachedResult[TournamentEstimate]:
    """The federation points that a planned, running or completed tournament gives, and why."""
    with call.read() as db:
        # Other tournaments, the federation's records and simulations change it without a new revision.
        return UncachedResult(worth.tournament_worth(db, call.ids[TOURNAMENT], call.query).estimate)


@get("/api/tournaments/{tournament_id}/forecast", access=Access.OPENABLE)
def forecast_tournament(call: Call[Query]) -> UncachedResult[Data[Forecast]]:
    """The chances in a running tournament, and what is certain; 403 until the organizer switches it on."""
    with call.read() as db:
        # It is computed beside the requests, and a new one comes without a new revision.
        return UncachedResult(Data(data=forecasts.tournament_forecast(db, call.ids[TOURNAMENT]).forecast))
