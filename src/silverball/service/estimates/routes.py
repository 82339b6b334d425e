"""The federation over HTTP."""

from silverball.kit.http.endpoints import (
    TOURNAMENT,
    Access,
    Call,
    FileDownload,
    UncachedResult,
    get,
    read_post,
)
from silverball.service.estimates import reads
from silverball.service.estimates.reads import EstimateQuery
from silverball.service.event_results import reads as results
from silverball.service.event_results.reads import EventResultsQuery
from silverball.service.exports import sheet
from silverball.wire.event_results import EventResults
from silverball.wire.federation import WpprEstimate
from silverball.wire.pages import Data

OF_TOURNAMENT = "/api/tournaments/{tournament_id}/federation-results"
OF_SERIES = "/api/series/{series_id}/federation-results"


@read_post("/api/ifpa/wppr-estimator", query=EstimateQuery)
def estimate_wppr(call: Call[EstimateQuery]) -> WpprEstimate:
    """The WPPR value of a field: the players of a tournament, of a series, or of a list."""
    with call.read() as db:
        return reads.wppr_estimate(db, call.query, call.caller)


@get(OF_TOURNAMENT, query=EventResultsQuery, access=Access.OPENABLE)
def show_results_for_federation(call: Call[EventResultsQuery]) -> UncachedResult[Data[EventResults]]:
    """Results of a finished tournament for the federation; a qualifying and its final are one event."""
    with call.read() as db:
        event = results.finished_event(db, call.ids[TOURNAMENT], call.caller)
    # The final and the players' numbers change them without a new revision of the qualifying.
    return UncachedResult(Data(data=results.event_results(event, call.query.players)))


@get(OF_TOURNAMENT + "/csv", query=EventResultsQuery, access=Access.OPENABLE)
def download_results_for_federation(call: Call[EventResultsQuery]) -> UncachedResult[FileDownload]:
    """Results of a finished tournament for the federation as CSV."""
    with call.read() as db:
        event = results.finished_event(db, call.ids[TOURNAMENT], call.caller)
    rows = results.file_rows(event, call.query.players)
    return UncachedResult(sheet.csv_file(f"results-{event.tournament_id}.csv", results.HEADER, rows))


@get(OF_SERIES, query=EventResultsQuery, access=Access.OPENABLE)
def show_series_for_federation(call: Call[EventResultsQuery]) -> UncachedResult[Data[EventResults]]:
    """Results of a completed series for the federation."""
    with call.read() as db:
        event = results.finished_series(db, call.ids["series_id"], call.caller)
    return UncachedResult(Data(data=results.event_results(event, call.query.players)))


@get(OF_SERIES + "/csv", query=EventResultsQuery, access=Access.OPENABLE)
def download_series_for_federation(call: Call[EventResultsQuery]) -> UncachedResult[FileDownload]:
    """Results of a completed series for the federation as CSV."""
    with call.read() as db:
        event = results.finished_series(db, call.ids["series_id"], call.caller)
    rows = results.file_rows(event, call.query.players)
    return UncachedResult(sheet.csv_file(f"results-series-{event.series_id}.csv", results.HEADER, rows))
