"""Rounds, ties, draws, notes, rulings and the round timer over HTTP."""

from silverball.kit.http.body import Body
from silverball.kit.http.endpoints import TOURNAMENT, Access, Call, delete, get, patch, post, put
from silverball.kit.http.query import Query
from silverball.service.core import loaded
from silverball.service.core.calls import Write
from silverball.service.games.reads import history
from silverball.service.games.reads.history import PastQuery
from silverball.service.rounds import reads, writes
from silverball.service.rounds.bodies import (
    ExtraTime,
    MoreTime,
    NewNote,
    NewRound,
    RoundMinutes,
    RoundPatch,
    Ruling,
)
from silverball.service.rounds.writes import TiebreakRequest
from silverball_wire.games import Game
from silverball_wire.pages import Data
from silverball_wire.rounds import DrawnRound, GameNote, Round, RoundTimer, TournamentDraws
from silverball_wire.standings import Standing

ROUND = "/api/tournaments/{tournament_id}/rounds/{round_id}"


@get("/api/tournaments/{tournament_id}/rounds", query=PastQuery, access=Access.OPENABLE)
def list_rounds(call: Call[PastQuery]) -> Data[tuple[Round, ...]]:
    """Rounds of a tournament, newest first; with `at` as they stood after that action of the journal."""
    with call.read() as db:
        if call.query.at is not None:
            tournament = history.tournament_after(db, call.ids["tournament_id"], call.query.at)
            if tournament is not None:
                return Data(data=history.rounds_of(db, tournament))
        return Data(data=reads.rounds_in_tournament(db, call.ids["tournament_id"]))


@post(
    "/api/tournaments/{tournament_id}/rounds",
    body=NewRound,
    ability="manage",
    status=201,
    prepare=writes.prepare_round,
)
def open_round(call: Write[NewRound]) -> DrawnRound:
    """Draw and open the next round; `dryRun` answers with the draw and stores nothing."""
    return writes.open_round(call)


@patch(ROUND, body=RoundPatch, ability="manage")
def change_round(call: Write[RoundPatch]) -> Data[Round]:
    """Change the arena and the target of a hole, a frame or a race."""
    return Data(data=writes.change_round(call))


@post(ROUND + "/complete", ability="manage")
def complete_round(call: Write[Body]) -> Data[Round]:
    """Complete a round whose games all have results."""
    return Data(data=writes.complete_round(call))


@delete(ROUND, ability="manage")
def delete_round(call: Write[Body]) -> Data[Round]:
    """Delete the newest round with its games."""
    return Data(data=writes.delete_round(call))


@post("/api/tournaments/{tournament_id}/tiebreaks", body=TiebreakRequest, ability="manage", status=201)
def break_tie(call: Write[TiebreakRequest]) -> Data[tuple[Game, ...] | tuple[Standing, ...]]:
    """Open a tiebreak of `playerIds`; or set, `draw` or `forget` an `order`, and answer the standings."""
    return Data(data=writes.break_tie(call))


@get("/api/tournaments/{tournament_id}/draws", access=Access.OPENABLE)
def show_draws(call: Call[Query]) -> Data[TournamentDraws]:
    """How a tournament was drawn: its seeds, and what was done to each draw by hand."""
    with call.read() as db:
        return Data(data=reads.tournament_draws(db, call.ids[TOURNAMENT]))


GAME = "/api/tournaments/{tournament_id}/games/{game_id}"


@get(GAME + "/notes", access=Access.OWN)
def list_notes_of_game(call: Call[Query]) -> Data[tuple[GameNote, ...]]:
    """The notes on a game, oldest first; for directors and scorekeepers."""
    with call.read() as db:
        tournament = loaded.load_tournament(db, call.ids["tournament_id"])
        notes = reads.notes_of_game(db, tournament, call.ids["game_id"], call.caller)
        return Data(data=notes)


@get(GAME + "/earlier-cards", access=Access.OWN)
def list_cards_before_game(call: Call[Query]) -> Data[tuple[GameNote, ...]]:
    """The players' cards in other tournaments of the organizer in the last year, oldest first."""
    with call.read() as db:
        tournament = loaded.load_tournament(db, call.ids["tournament_id"])
        cards = reads.cards_before_game(db, tournament, call.ids["game_id"], call.caller, call.now)
        return Data(data=cards)


@post(GAME + "/notes", body=NewNote, ability="score", status=201)
def add_note_to_game(call: Write[NewNote]) -> Data[GameNote]:
    """Write a note on a game, which directors and scorekeepers see."""
    return Data(data=writes.add_note(call))


@post(GAME + "/ruling", body=Ruling, ability="manage")
def rule_on_game(call: Write[Ruling]) -> Data[Game]:
    """Rule what becomes of a game whose machine is out of order; the ruling stays as a note."""
    return Data(data=writes.rule_on_game(call))


TIMER = "/api/tournaments/{tournament_id}/timer"


@get(TIMER, access=Access.OPENABLE)
def show_round_timer(call: Call[Query]) -> Data[RoundTimer]:
    """When the open round runs out of time, and who was called to a machine."""
    with call.read() as db:
        return Data(data=reads.round_timer_of(loaded.load_tournament(db, call.ids["tournament_id"])))


@put(TIMER, body=RoundMinutes, ability="manage")
def set_round_timer(call: Write[RoundMinutes]) -> Data[RoundTimer]:
    """Give every round so many minutes, the open one from now on; 0 switches the timer off."""
    return Data(data=reads.round_timer_of(writes.set_round_timer(call)))


@post(TIMER + "/extend", body=MoreTime, ability="manage")
def extend_round(call: Write[MoreTime]) -> Data[RoundTimer]:
    """Give the open round more minutes; negative ones are taken off."""
    return Data(data=reads.round_timer_of(writes.extend_round(call)))


@post("/api/tournaments/{tournament_id}/games/{game_id}/extra-time", body=ExtraTime, ability="manage")
def give_extra_time(call: Write[ExtraTime]) -> Data[RoundTimer]:
    """Give one open game more minutes than its round, from now on where its time is up."""
    return Data(data=reads.round_timer_of(writes.give_extra_time(call)))


@post("/api/tournaments/{tournament_id}/games/{game_id}/call", ability="score")
def call_players(call: Write[Body]) -> Data[RoundTimer]:
    """Call the players of an open game to their machine, once more if they were called before."""
    return Data(data=reads.round_timer_of(writes.call_players(call)))
