"""The round timer and calls over HTTP."""

from silverball.kit.http.body import Body
from silverball.kit.http.endpoints import Access, Call, get, post, put
from silverball.kit.http.query import Query
from silverball.service.calls import Write
from silverball.service.core import loaded
from silverball.service.timekeeping import reads, writes
from silverball.service.timekeeping.bodies import ExtraTime, MoreTime, RoundMinutes
from silverball_wire.pages import Data
from silverball_wire.timekeeping import RoundTimer

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
