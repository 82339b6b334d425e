"""GET the CSV downloads of a tournament."""

from silverball.kit.http.endpoints import Access, Call, FileDownload, get
from silverball.kit.http.query import Query
from silverball.service.exports import reads, sheet
from silverball.service.games.reads.games import TournamentGamesQuery
from silverball.service.singleplayer.reads import SinglePlayerGameFilters

BASE = "/api/tournaments/{tournament_id}"


@get(BASE + "/players/csv", access=Access.OPENABLE)
def download_players(call: Call[Query]) -> FileDownload:
    """Players of a tournament as CSV."""
    tournament_id = call.ids["tournament_id"]
    with call.read() as db:
        rows = reads.player_rows(db, tournament_id, call.caller)
    return sheet.csv_file(f"players-{tournament_id}.csv", reads.PLAYER_HEADER, rows)


@get(BASE + "/games/csv", query=TournamentGamesQuery, access=Access.OPENABLE)
def download_games(call: Call[TournamentGamesQuery]) -> FileDownload:
    """Games of a tournament as CSV, one row per player and game."""
    tournament_id = call.ids["tournament_id"]
    with call.read() as db:
        rows = reads.game_rows(db, tournament_id, call.query)
    return sheet.csv_file(f"games-{tournament_id}.csv", reads.GAME_HEADER, rows)


@get(BASE + "/single-player-games/csv", query=SinglePlayerGameFilters, access=Access.OPENABLE)
def download_single_player_games(call: Call[SinglePlayerGameFilters]) -> FileDownload:
    """Single player games of a tournament as CSV."""
    tournament_id = call.ids["tournament_id"]
    with call.read() as db:
        rows = reads.single_player_game_rows(db, tournament_id, call.query)
    return sheet.csv_file(f"single-player-games-{tournament_id}.csv", reads.SINGLE_PLAYER_GAME_HEADER, rows)


@get(BASE + "/entries/csv", access=Access.OPENABLE)
def download_entries(call: Call[Query]) -> FileDownload:
    """Entries of a tournament as CSV."""
    tournament_id = call.ids["tournament_id"]
    with call.read() as db:
        rows = reads.entry_rows(db, tournament_id, call.caller)
    return sheet.csv_file(f"entries-{tournament_id}.csv", reads.ENTRY_HEADER, rows)
