"""GET games: of one tournament, of several, and one game."""

from silverball.kit.http import Access, Call, get
from silverball.kit.query import Query
from silverball.service import pages
from silverball.service.games import reads
from silverball.service.games.reads import GamesQuery, TournamentGamesQuery
from silverball.wire.games import Game
from silverball.wire.pages import Data, Page


@get("/api/tournaments/{tournament_id}/games", query=TournamentGamesQuery, access=Access.OPENABLE)
def list_games_of_tournament(call: Call[TournamentGamesQuery]) -> Data[tuple[Game, ...]]:
    """Games of a tournament, all of them."""
    with call.read() as db:
        return Data(data=reads.of_tournament(db, call.ids["tournament_id"], call.query))


@get("/api/tournaments/{tournament_id}/games/{game_id}", access=Access.OPENABLE)
def show_game(call: Call[Query]) -> Data[Game]:
    """One game, with its arena."""
    with call.read() as db:
        return Data(data=reads.one(db, call.ids["tournament_id"], call.ids["game_id"]))


@get("/api/games", query=GamesQuery)
def list_games(call: Call[GamesQuery]) -> Page[Game]:
    """Games of several tournaments or series."""
    with call.read() as db:
        return pages.page(call, reads.page(db, call.query), per_page=reads.PAGE_SIZE)
