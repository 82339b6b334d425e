"""GET single player games: a list, the best of each arena, one game."""

from silverball.kit.http import Access, Call, get
from silverball.kit.query import Query
from silverball.service import pages
from silverball.service.singleplayer import reads
from silverball.service.singleplayer.reads import SinglePlayerGamesQuery
from silverball.wire.pages import Data, Page
from silverball.wire.singleplayer import SinglePlayerGame

LIST = "/api/tournaments/{tournament_id}/single-player-games"


@get(LIST, query=SinglePlayerGamesQuery, access=Access.OPENABLE)
def list_single_player_games(call: Call[SinglePlayerGamesQuery]) -> Page[SinglePlayerGame]:
    """Single player games of a tournament."""
    with call.read() as db:
        found = reads.page(db, call.ids["tournament_id"], call.query)
    return pages.page(call, found, per_page=call.query.limit)


@get(LIST + "/top-scores", access=Access.OPENABLE)
def list_top_scores(call: Call[Query]) -> Data[tuple[SinglePlayerGame, ...]]:
    """The five best scores on each arena."""
    with call.read() as db:
        return Data(data=reads.top_scores(db, call.ids["tournament_id"]))


@get(LIST + "/{single_player_game_id}", access=Access.OPENABLE)
def show_single_player_game(call: Call[Query]) -> Data[SinglePlayerGame]:
    """One single player game."""
    with call.read() as db:
        return Data(data=reads.one(db, call.ids["tournament_id"], call.ids["single_player_game_id"]))
