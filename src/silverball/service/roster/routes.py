"""Players, arenas, banks and scorekeepers of a tournament over HTTP."""

from msgspec import UNSET

from silverball.kit.http.body import Body
from silverball.kit.http.endpoints import (
    TOURNAMENT,
    Access,
    Call,
    UncachedResult,
    delete,
    get,
    patch,
    post,
    put,
)
from silverball.kit.http.query import Query
from silverball.service.core.calls import Write
from silverball.service.roster import reads, writes
from silverball.service.roster.bodies import (
    ChangedPairsApart,
    EntrantPatch,
    EntrantsPatch,
    GivingUp,
    LineupArenaPatch,
    NewEntrants,
    NewLineupArenas,
)
from silverball_wire.arenas import Arena, Bank
from silverball_wire.pages import Data
from silverball_wire.players import Player
from silverball_wire.tournaments import PairsApart
from silverball_wire.users import User

PLAYERS = "/api/tournaments/{tournament_id}/players"
PLAYER = "/api/tournaments/{tournament_id}/players/{player_id}"
ARENAS = "/api/tournaments/{tournament_id}/arenas"
ARENA = "/api/tournaments/{tournament_id}/arenas/{arena_id}"
BANK = "/api/tournaments/{tournament_id}/banks/{bank_id}"
PAIRS_APART = "/api/tournaments/{tournament_id}/pairs-apart"
SCOREKEEPER = "/api/tournaments/{tournament_id}/scorekeepers/{user_id}"


@post(PLAYERS, body=NewEntrants, ability="manage", status=201)
def add_players_to_tournament(call: Write[NewEntrants]) -> Data[Player | tuple[Player, ...]]:
    """Add one player, or all of `players`; late entrants of a knockout come with their strikes."""
    added = writes.add_players(call)
    return Data(data=added[0] if call.body.players is UNSET else added)


@patch(PLAYERS, body=EntrantsPatch, ability="manage")
def change_players_of_tournament(call: Write[EntrantsPatch]) -> Data[tuple[Player, ...]]:
    """Change several players at once, for example drop them."""
    return Data(data=writes.change_players(call))


@patch(PLAYER, body=EntrantPatch, ability="manage")
def change_player_of_tournament(call: Write[EntrantPatch]) -> Data[Player]:
    """Change a player's seed, labels, status or adjustments."""
    return Data(data=writes.change_player(call))


@delete(PLAYER, ability="manage")
def remove_player_from_tournament(call: Write[Body]) -> Data[Player]:
    """Remove a player who has not played."""
    return Data(data=writes.remove_player(call))


@post(PLAYER + "/forfeit", body=GivingUp, ability="manage")
def forfeit_games_of_player(call: Write[GivingUp]) -> Data[Player]:
    """Give up the open games of a player, let them leave, or take out who did not come."""
    return Data(data=writes.forfeit_games(call))


@post(ARENAS, body=NewLineupArenas, ability="manage", status=201)
def add_arenas_to_tournament(call: Write[NewLineupArenas]) -> Data[Arena | tuple[Arena, ...]]:
    """Add one arena, or all of `arenas`."""
    added = writes.add_arenas(call)
    return Data(data=added[0] if call.body.arenas is UNSET else added)


@patch(ARENA, body=LineupArenaPatch, ability="manage")
def change_arena_of_tournament(call: Write[LineupArenaPatch]) -> Data[Arena]:
    """Change an arena's labels, status or switches; `redraw` moves its open games when it breaks down."""
    return Data(data=writes.change_arena(call))


@delete(ARENA, ability="manage")
def remove_arena_from_tournament(call: Write[Body]) -> Data[Arena]:
    """Remove an arena without games."""
    return Data(data=writes.remove_arena(call))


@get(PAIRS_APART, access=Access.OWN)
def show_pairs_apart(call: Call[Query]) -> UncachedResult[Data[PairsApart]]:
    """Pairs of players whom draws keep apart, for the organizer alone."""
    with call.read() as db:
        return UncachedResult(Data(data=reads.pairs_apart(db, call.ids[TOURNAMENT], call.caller)))


@put(PAIRS_APART, body=ChangedPairsApart, ability="manage")
def set_pairs_apart(call: Write[ChangedPairsApart]) -> Data[PairsApart]:
    """Set the pairs of players whom draws keep apart."""
    return Data(data=writes.set_pairs_apart(call))


@put(BANK, ability="manage")
def add_bank_to_tournament(call: Write[Body]) -> Data[Bank]:
    """Add a bank with its arenas."""
    return Data(data=writes.add_bank(call))


@delete(BANK, ability="manage")
def remove_bank_from_tournament(call: Write[Body]) -> Data[Bank]:
    """Remove a bank from the draws."""
    return Data(data=writes.remove_bank(call))


@put(SCOREKEEPER, ability="manage")
def add_scorekeeper_to_tournament(call: Write[Body]) -> Data[User]:
    """Let an account record results of the tournament."""
    return Data(data=writes.add_scorekeeper(call))


@delete(SCOREKEEPER, ability="manage")
def remove_scorekeeper_from_tournament(call: Write[Body]) -> Data[User]:
    """Withdraw an account's right to record results of the tournament."""
    return Data(data=writes.remove_scorekeeper(call))
