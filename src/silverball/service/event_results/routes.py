"""Results for the federation over HTTP."""

from silverball.kit.http.endpoints import TOURNAMENT, Access, Call, FileDownload, UncachedResult, get
from silverball.service.event_results import reads
from silverball.service.event_results.reads import EventResultsQuery
from silverball.service.exports import sheet
from silverball_wire.event_results import EventResults
from silverball_wire.pages import Data

OF_TOURNAMENT = "/api/tournaments/{tournament_id}/federation-results"
OF_SERIES = "/api/series/{series_id}/federation-results"


@get(OF_TOURNAMENT, query=EventResultsQuery, access=Access.OPENABLE, can_conflict=True)
def show_results_for_federation(call: Call[EventResultsQuery]) -> UncachedResult[Data[EventResults]]:
    """Results of a finished tournament for the federation; a qualifying and its final are one event."""
    with call.read() as db:
        event = reads.finished_event(db, call.ids[TOURNAMENT], call.caller)
    # The final and the players' numbers change them without a new revision of the qualifying.
    return UncachedResult(Data(data=reads.event_results(event, call.query.players)))


@get(OF_TOURNAMENT + "/csv", query=EventResultsQuery, access=Access.OPENABLE, can_conflict=True)
def download_results_for_federation(call: Call[EventResultsQuery]) -> UncachedResult[FileDownload]:
    """Results of a finished tournament for the federation as CSV."""
    with call.read() as db:
        event = reads.finished_event(db, call.ids[TOURNAMENT], call.caller)
    rows = reads.file_rows(event, call.query.players)
    return UncachedResult(sheet.csv_file(event.file_name, reads.HEADER, rows))


@get(OF_SERIES, query=EventResultsQuery, access=Access.OPENABLE, can_conflict=True)
def show_series_for_federation(call: Call[EventResultsQuery]) -> UncachedResult[Data[EventResults]]:
    """Results of a completed series for the federation."""
    with call.read() as db:
        event = reads.finished_series(db, call.ids["series_id"], call.caller)
    return UncachedResult(Data(data=reads.event_results(event, call.query.players)))


@get(OF_SERIES + "/csv", query=EventResultsQuery, access=Access.OPENABLE, can_conflict=True)
def download_series_for_federation(call: Call[EventResultsQuery]) -> UncachedResult[FileDownload]:
    """Results of a completed series for the federation as CSV."""
    with call.read() as db:
        event = reads.finished_series(db, call.ids["series_id"], call.caller)
    rows = reads.file_rows(event, call.query.players)
    return UncachedResult(sheet.csv_file(event.file_name, reads.HEADER, rows))
