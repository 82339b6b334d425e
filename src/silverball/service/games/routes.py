"""Games over HTTP: lists, one game, and its changes."""

from silverball.kit.http.body import Body
from silverball.kit.http.endpoints import Access, Call, delete, get, patch, post, put
from silverball.kit.http.query import Query
from silverball.service import pages
from silverball.service.calls import Write
from silverball.service.games import writes
from silverball.service.games.bodies import EnteredResult, GamePatch, LegPatch, NewGame, NewLeg, SeatedPlayer
from silverball.service.games.reads import games as reads
from silverball.service.games.reads import legs
from silverball.service.games.reads.games import GamesQuery, TournamentGamesQuery
from silverball.service.history import reads as history
from silverball_wire.corrections import RecordedGame
from silverball_wire.games import Game, Leg
from silverball_wire.pages import Data, Page


@get("/api/tournaments/{tournament_id}/games", query=TournamentGamesQuery, access=Access.OPENABLE)
def list_games_of_tournament(call: Call[TournamentGamesQuery]) -> Data[tuple[Game, ...]]:
    """All games of a tournament; with `at` as they stood after that action of the journal."""
    with call.read() as db:
        if call.query.at is not None:
            tournament = history.tournament_after(db, call.ids["tournament_id"], call.query.at)
            if tournament is not None:
                return Data(data=history.games_of(db, tournament, call.query))
        return Data(data=reads.games_in_tournament(db, call.ids["tournament_id"], call.query))


@get("/api/tournaments/{tournament_id}/games/{game_id}", access=Access.OPENABLE)
def show_game(call: Call[Query]) -> Data[Game]:
    """One game, with its arena."""
    with call.read() as db:
        return Data(data=reads.find_game(db, call.ids["tournament_id"], call.ids["game_id"]))


@get("/api/games", query=GamesQuery)
def list_games(call: Call[GamesQuery]) -> Page[Game]:
    """Games of several tournaments or series."""
    with call.read() as db:
        return pages.full_page(call, reads.games_page(db, call.query), per_page=reads.PAGE_SIZE)


GAME = "/api/tournaments/{tournament_id}/games/{game_id}"


@put(GAME + "/result", body=EnteredResult, ability="score")
def record_result(call: Write[EnteredResult]) -> RecordedGame:
    """Record the result of a game; only the organizer can replace one, in any round with a `correction`."""
    return writes.record_result(call)


@delete(GAME + "/result", ability="manage")
def clear_result(call: Write[Body]) -> Data[Game]:
    """Clear the result of a game."""
    return Data(data=writes.clear_result(call))


LEGS = GAME + "/legs"


@get(LEGS, access=Access.OPENABLE)
def list_legs(call: Call[Query]) -> Data[tuple[Leg, ...]]:
    """The single games of a match of a bracket, where they are recorded."""
    with call.read() as db:
        return Data(data=legs.legs_of_game(db, call.ids["tournament_id"], call.ids["game_id"]))


@post(LEGS, body=NewLeg, ability="score", status=201)
def record_leg(call: Write[NewLeg]) -> Data[Leg]:
    """Record the next single game of a match; the match completes when a player has won enough."""
    return Data(data=writes.record_leg(call))


@patch(LEGS + "/{leg}", body=LegPatch, ability="score")
def change_leg(call: Write[LegPatch]) -> Data[Leg]:
    """Correct a single game of a match, counted from 1; a decided match only the organizer."""
    return Data(data=writes.change_leg(call))


@delete(LEGS + "/{leg}", ability="score")
def delete_leg(call: Write[Body]) -> Data[Leg]:
    """Delete a single game of a match, counted from 1; the later ones move up."""
    return Data(data=writes.delete_leg(call))


@patch(GAME, body=GamePatch, ability="score")
def change_game(call: Write[GamePatch]) -> Data[Game]:
    """Change the playing order, the arena or the players of an open game."""
    return Data(data=writes.change_game(call))


@post(GAME + "/arena", ability="manage")
def redraw_arena_of_game(call: Write[Body]) -> Data[Game]:
    """Draw another arena for an open game."""
    return Data(data=writes.redraw_arena(call))


@post(GAME + "/players", body=SeatedPlayer, ability="manage", status=201)
def add_player_to_game(call: Write[SeatedPlayer]) -> Data[Game]:
    """Add a player to a game of the open round."""
    return Data(data=writes.add_player(call))


@delete(GAME + "/players/{player_id}", ability="manage")
def remove_player_from_game(call: Write[Body]) -> Data[Game]:
    """Remove a player from an open game."""
    return Data(data=writes.remove_player(call))


@post("/api/tournaments/{tournament_id}/games", body=NewGame, ability="manage", status=201)
def create_game(call: Write[NewGame]) -> Data[Game]:
    """Create a game of chosen players, where the organizer makes the games."""
    return Data(data=writes.create_game(call))


@delete(GAME, ability="manage")
def delete_game(call: Write[Body]) -> Data[Game]:
    """Delete a game outside drawn rounds, or a tiebreak game."""
    return Data(data=writes.delete_game(call))
