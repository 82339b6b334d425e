"""Single player games over HTTP: lists, one game, and its changes."""

from typing import Any

from silverball.kit.http.body import Body
from silverball.kit.http.endpoints import TOURNAMENT, Access, Call, delete, get, patch, post
from silverball.kit.http.query import Query
from silverball.service import pages
from silverball.service.calls import Write
from silverball.service.singleplayer import reads, writes
from silverball.service.singleplayer.reads import SinglePlayerGamesQuery
from silverball_wire.corrections import RecordedSinglePlayerGame
from silverball_wire.pages import Data, Page
from silverball_wire.singleplayer import SinglePlayerGame

LIST = "/api/tournaments/{tournament_id}/single-player-games"
ONE = LIST + "/{single_player_game_id}"


@get(LIST, query=SinglePlayerGamesQuery, access=Access.OPENABLE)
def list_single_player_games(call: Call[SinglePlayerGamesQuery]) -> Page[SinglePlayerGame]:
    """Single player games of a tournament."""
    with call.read() as db:
        rows = reads.single_player_games_page(db, call.ids["tournament_id"], call.query)
    return pages.full_page(call, rows, per_page=call.query.limit)


@get(LIST + "/top-scores", access=Access.OPENABLE)
def list_top_scores(call: Call[Query]) -> Data[tuple[SinglePlayerGame, ...]]:
    """The five best scores on each arena."""
    with call.read() as db:
        return Data(data=reads.top_scores(db, call.ids["tournament_id"]))


@get(ONE, access=Access.OPENABLE)
def show_single_player_game(call: Call[Query]) -> Data[SinglePlayerGame]:
    """One single player game."""
    with call.read() as db:
        return Data(
            data=reads.find_single_player_game(
                db, call.ids["tournament_id"], call.ids["single_player_game_id"]
            )
        )


@post(LIST, body=writes.NewSinglePlayerGame, ability="score", status=201)
def add_single_player_game(call: Write[writes.NewSinglePlayerGame]) -> Data[SinglePlayerGame]:
    """Record a player's score on an arena; without a result the game starts."""
    return _single_player_game_data(call, writes.add_single_player_game(call))


@patch(ONE, body=writes.ReplacedAttemptResult, ability="score")
def record_single_player_game(call: Write[writes.ReplacedAttemptResult]) -> RecordedSinglePlayerGame:
    """Record or correct the result of a single player game."""
    correction = writes.record_single_player_game(call)
    game = _single_player_game_data(call, call.ids[writes.SINGLE_PLAYER_GAME]).data
    return RecordedSinglePlayerGame(data=game, correction=correction)


@post(ONE + "/void", ability="score")
def void_single_player_game(call: Write[Body]) -> Data[SinglePlayerGame]:
    """Void a single player game; it still uses up its entry."""
    return _single_player_game_data(call, writes.void_single_player_game(call))


@post(ONE + "/unvoid", ability="manage")
def unvoid_single_player_game(call: Write[Body]) -> Data[SinglePlayerGame]:
    """Count a voided single player game again."""
    return _single_player_game_data(call, writes.unvoid_single_player_game(call))


@delete(ONE, ability="manage")
def delete_single_player_game(call: Write[Body]) -> Data[SinglePlayerGame]:
    """Delete a single player game, or its result where the format made the game; answers the game."""
    game_id = call.ids[writes.SINGLE_PLAYER_GAME]
    before = _single_player_game_data(call, game_id)
    return _single_player_game_data(call, game_id) if writes.delete_single_player_game(call) else before


@post("/api/tournaments/{tournament_id}/amazing-race/{player_id}/advance", ability="score")
def advance_in_amazing_race(call: Write[Body]) -> Data[SinglePlayerGame]:
    """Advance a player of an amazing race who is above the bar, without an exact score."""
    return _single_player_game_data(call, writes.advance_player(call))


def _single_player_game_data(call: Write[Any], single_player_game_id: int) -> Data[SinglePlayerGame]:
    tournament_id = call.ids[TOURNAMENT]
    changed = call.transaction.loaded.get(tournament_id)
    return Data(
        data=reads.find_single_player_game(call.db, tournament_id, single_player_game_id, changed=changed)
    )
