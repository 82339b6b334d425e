"""GET the CSV downloads of a tournament."""

from silverball.kit.http import Access, Call, File, get
from silverball.kit.query import Query
from silverball.service.exports import reads, sheet
from silverball.service.games.reads import TournamentGamesQuery
from silverball.service.singleplayer.reads import AttemptFilters

BASE = "/api/tournaments/{tournament_id}"


@get(BASE + "/players/csv", access=Access.OPENABLE)
def download_players(call: Call[Query]) -> File:
    """Players of a tournament as CSV."""
    tournament_id = call.ids["tournament_id"]
    with call.read() as db:
        rows = reads.player_rows(db, tournament_id, call.caller)
    return sheet.file(f"players-{tournament_id}.csv", reads.PLAYERS, rows)


@get(BASE + "/games/csv", query=TournamentGamesQuery, access=Access.OPENABLE)
def download_games(call: Call[TournamentGamesQuery]) -> File:
    """Games of a tournament as CSV, one line per player and game."""
    tournament_id = call.ids["tournament_id"]
    with call.read() as db:
        rows = reads.game_rows(db, tournament_id, call.query)
    return sheet.file(f"games-{tournament_id}.csv", reads.GAMES, rows)


@get(BASE + "/single-player-games/csv", query=AttemptFilters, access=Access.OPENABLE)
def download_single_player_games(call: Call[AttemptFilters]) -> File:
    """Single player games of a tournament as CSV."""
    tournament_id = call.ids["tournament_id"]
    with call.read() as db:
        rows = reads.single_player_game_rows(db, tournament_id, call.query)
    return sheet.file(f"single-player-games-{tournament_id}.csv", reads.SINGLE_PLAYER_GAMES, rows)


@get(BASE + "/entries/csv", access=Access.OPENABLE)
def download_entries(call: Call[Query]) -> File:
    """Entries of a tournament as CSV."""
    tournament_id = call.ids["tournament_id"]
    with call.read() as db:
        rows = reads.entry_rows(db, tournament_id, call.caller)
    return sheet.file(f"entries-{tournament_id}.csv", reads.ENTRIES, rows)
