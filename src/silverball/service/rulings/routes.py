"""Notes on games and rulings over HTTP."""

from silverball.kit.http.endpoints import Access, Call, get, post
from silverball.kit.http.query import Query
from silverball.service.calls import Write
from silverball.service.core import loaded
from silverball.service.rulings import reads, writes
from silverball.service.rulings.bodies import NewNote, Ruling
from silverball_wire.games import Game
from silverball_wire.notes import GameNote
from silverball_wire.pages import Data

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
    """Cards of the game's players in other tournaments of the organizer in the last year, oldest first."""
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
