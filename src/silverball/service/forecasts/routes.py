"""The forecast of a tournament over HTTP."""

from silverball.kit.http.endpoints import TOURNAMENT, Access, Call, UncachedResult, get
from silverball.kit.http.query import Query
from silverball.service.forecasts import reads
from silverball_wire.forecasts import Forecast
from silverball_wire.pages import Data


@get("/api/tournaments/{tournament_id}/forecast", access=Access.OPENABLE)
def forecast_tournament(call: Call[Query]) -> UncachedResult[Data[Forecast]]:
    """The chances in a running tournament, and what is certain; 403 until the organizer switches it on."""
    with call.read() as db:
        # It is computed beside the requests, and a new one comes without a new revision.
        return UncachedResult(Data(data=reads.tournament_forecast(db, call.ids[TOURNAMENT]).forecast))
