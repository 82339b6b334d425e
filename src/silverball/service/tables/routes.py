"""The CSV downloads of a tournament, and its results for the federation, over HTTP."""

from silverball.kit.http.endpoints import TOURNAMENT, Access, Call, FileDownload, UncachedResult, get, put
from silverball.kit.http.query import Query
from silverball.service.core.calls import Write
from silverball.service.games.reads.games import TournamentGamesQuery
from silverball.service.single_player.reads import SinglePlayerGameFilters
from silverball.service.tables import sheet, writes
from silverball.service.tables.reads import event_results, exports
from silverball.service.tables.reads.event_results import EventResultsQuery
from silverball.service.tables.writes import SentMark
from silverball_wire.pages import Data
from silverball_wire.standings import EventResults, SentResults

BASE = "/api/tournaments/{tournament_id}"


@get(BASE + "/players/csv", access=Access.OPENABLE)
def download_players(call: Call[Query]) -> FileDownload:
    """Players of a tournament as CSV."""
    tournament_id = call.ids["tournament_id"]
    with call.read() as db:
        rows = exports.player_rows(db, tournament_id, call.caller)
    return sheet.csv_file(f"players-{tournament_id}.csv", exports.PLAYER_HEADER, rows)


@get(BASE + "/games/csv", query=TournamentGamesQuery, access=Access.OPENABLE)
def download_games(call: Call[TournamentGamesQuery]) -> FileDownload:
    """Games of a tournament as CSV, one row per player and game."""
    tournament_id = call.ids["tournament_id"]
    with call.read() as db:
        rows = exports.game_rows(db, tournament_id, call.query)
    return sheet.csv_file(f"games-{tournament_id}.csv", exports.GAME_HEADER, rows)


@get(BASE + "/single-player-games/csv", query=SinglePlayerGameFilters, access=Access.OPENABLE)
def download_single_player_games(call: Call[SinglePlayerGameFilters]) -> FileDownload:
    """Single player games of a tournament as CSV."""
    tournament_id = call.ids["tournament_id"]
    with call.read() as db:
        rows = exports.single_player_game_rows(db, tournament_id, call.query)
    return sheet.csv_file(f"single-player-games-{tournament_id}.csv", exports.SINGLE_PLAYER_GAME_HEADER, rows)


@get(BASE + "/entries/csv", access=Access.OPENABLE)
def download_entries(call: Call[Query]) -> FileDownload:
    """Entries of a tournament as CSV."""
    tournament_id = call.ids["tournament_id"]
    with call.read() as db:
        rows = exports.entry_rows(db, tournament_id, call.caller)
    return sheet.csv_file(f"entries-{tournament_id}.csv", exports.ENTRY_HEADER, rows)


OF_TOURNAMENT = "/api/tournaments/{tournament_id}/federation-results"
OF_SERIES = "/api/series/{series_id}/federation-results"


@get(OF_TOURNAMENT, query=EventResultsQuery, access=Access.OPENABLE, can_conflict=True)
def show_results_for_federation(call: Call[EventResultsQuery]) -> UncachedResult[Data[EventResults]]:
    """Results of a finished tournament for the federation; a qualifying and its final are one event."""
    with call.read() as db:
        event = event_results.finished_event(db, call.ids[TOURNAMENT], call.caller)
    # The final and the players' numbers change them without a new revision of the qualifying.
    return UncachedResult(Data(data=event_results.event_results(event, call.query.players)))


@get(OF_TOURNAMENT + "/csv", query=EventResultsQuery, access=Access.OPENABLE, can_conflict=True)
def download_results_for_federation(call: Call[EventResultsQuery]) -> UncachedResult[FileDownload]:
    """Results of a finished tournament for the federation as CSV."""
    with call.read() as db:
        event = event_results.finished_event(db, call.ids[TOURNAMENT], call.caller)
    rows = event_results.file_rows(event, call.query.players)
    return UncachedResult(sheet.csv_file(event.file_name, event_results.HEADER, rows))


SENT = OF_TOURNAMENT + "/sent"


@get(SENT, access=Access.OWN)
def show_results_sent(call: Call[Query]) -> UncachedResult[Data[SentResults]]:
    """Results of an event as the federation was sent them, and the places that differ now."""
    with call.read() as db:
        return UncachedResult(Data(data=event_results.sent_results(db, call.ids[TOURNAMENT], call.caller)))


@put(SENT, body=SentMark, ability="manage")
def mark_results_sent(call: Write[SentMark]) -> Data[SentResults]:
    """Note that the results of an event were sent to the federation, or take the note back."""
    writes.mark_sent(call)
    return Data(data=event_results.sent_results(call.db, call.ids[TOURNAMENT], call.caller))


@get(OF_SERIES, query=EventResultsQuery, access=Access.OPENABLE, can_conflict=True)
def show_series_for_federation(call: Call[EventResultsQuery]) -> UncachedResult[Data[EventResults]]:
    """Results of a completed series for the federation."""
    with call.read() as db:
        event = event_results.finished_series(db, call.ids["series_id"], call.caller)
    return UncachedResult(Data(data=event_results.event_results(event, call.query.players)))


@get(OF_SERIES + "/csv", query=EventResultsQuery, access=Access.OPENABLE, can_conflict=True)
def download_series_for_federation(call: Call[EventResultsQuery]) -> UncachedResult[FileDownload]:
    """Results of a completed series for the federation as CSV."""
    with call.read() as db:
        event = event_results.finished_series(db, call.ids["series_id"], call.caller)
    rows = event_results.file_rows(event, call.query.players)
    return UncachedResult(sheet.csv_file(event.file_name, event_results.HEADER, rows))
