"""Games, their legs, reported results, and the live views of frenzy and max match play, over HTTP."""

from silverball.kit.http.body import Body
from silverball.kit.http.endpoints import Access, Call, delete, get, patch, post, put
from silverball.kit.http.query import Query
from silverball.service.core import calls
from silverball.service.core.calls import Write
from silverball.service.games import writes
from silverball.service.games.bodies import (
    ClockAdjustment,
    EnteredResult,
    GamePatch,
    LegPatch,
    NewFrenzySpot,
    NewGame,
    NewLeg,
    ReportedResult,
    SeatedPlayer,
)
from silverball.service.games.reads import games as reads
from silverball.service.games.reads import history, waiting
from silverball.service.games.reads.games import GamesQuery, TournamentGamesQuery
from silverball_wire.games import Game, Leg
from silverball_wire.pages import Data, Page
from silverball_wire.queues import FrenzyState
from silverball_wire.rounds import MaxMatchplayState
from silverball_wire.singleplayer import RecordedGame


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
        return calls.full_page(call, reads.games_page(db, call.query), per_page=reads.PAGE_SIZE)


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
        return Data(data=reads.legs_of_game(db, call.ids["tournament_id"], call.ids["game_id"]))


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


SUGGESTION = "/api/tournaments/{tournament_id}/suggestions/{suggestion_id}"


@post(
    "/api/tournaments/{tournament_id}/games/{game_id}/suggestions",
    body=ReportedResult,
    ability="score",
    status=201,
)
def suggest_result(call: Write[ReportedResult]) -> Data[Game]:
    """Report the result of a game as one of its players; answers the game with the report."""
    return Data(data=writes.suggest_result(call))


@post(SUGGESTION + "/approve", ability="score")
def approve_suggestion(call: Write[Body]) -> Data[Game]:
    """Make a reported result the result of the game."""
    return Data(data=writes.approve_suggestion(call))


@delete(SUGGESTION, ability="score")
def decline_suggestion(call: Write[Body]) -> Data[Game]:
    """Decline a reported result."""
    return Data(data=writes.decline_suggestion(call))


FRENZY = "/api/tournaments/{tournament_id}/frenzy"


@get("/api/tournaments/{tournament_id}/frenzy", access=Access.OPENABLE)
def show_frenzy(call: Call[Query]) -> FrenzyState:
    """The current games and queue of a frenzy."""
    with call.read() as db:
        return waiting.frenzy_state(db, call.ids["tournament_id"])


@post(FRENZY + "/pause", ability="manage")
def pause_frenzy(call: Write[Body]) -> FrenzyState:
    """Stop the clock; no new game starts."""
    return writes.pause_clock(call)


@post(FRENZY + "/resume", ability="manage")
def resume_frenzy(call: Write[Body]) -> FrenzyState:
    """Resume the clock and start games for waiting players."""
    return writes.resume_clock(call)


@post(FRENZY + "/time", body=ClockAdjustment, ability="manage")
def change_time_of_frenzy(call: Write[ClockAdjustment]) -> FrenzyState:
    """Add seconds to the clock, or take them off."""
    return writes.change_clock(call)


@post(FRENZY + "/games", ability="score", status=201)
def start_games_of_frenzy(call: Write[Body]) -> FrenzyState:
    """Start games for waiting players on free arenas."""
    return writes.start_waiting_players(call)


@post(FRENZY + "/queue", body=NewFrenzySpot, ability="score", status=201)
def join_queue_of_frenzy(call: Write[NewFrenzySpot]) -> FrenzyState:
    """Put a player at the end of the queue."""
    return writes.join_queue(call)


@delete(FRENZY + "/queue/{queue_id}", ability="score")
def leave_queue_of_frenzy(call: Write[Body]) -> FrenzyState:
    """Remove a player from the queue."""
    return writes.leave_queue(call)


@post(FRENZY + "/queue/{queue_id}/end", ability="score")
def move_to_end_of_queue_of_frenzy(call: Write[Body]) -> FrenzyState:
    """Move a player to the end of the queue."""
    return writes.send_to_end_of_queue(call)


@get("/api/tournaments/{tournament_id}/max-matchplay", access=Access.OPENABLE)
def show_max_matchplay(call: Call[Query]) -> MaxMatchplayState:
    """The current games, players and remaining games of a max match play."""
    with call.read() as db:
        return waiting.max_matchplay_state(db, call.ids["tournament_id"])


@post("/api/tournaments/{tournament_id}/max-matchplay/games", ability="score", status=201)
def create_max_matchplay_games(call: Write[Body]) -> Data[tuple[Game, ...]]:
    """Create the matches that can start now, as many as players and arenas allow."""
    return Data(data=writes.create_matches(call))
