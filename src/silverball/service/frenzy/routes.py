"""A frenzy over HTTP: the live view, its clock and its queue."""

from silverball.kit.http.body import Body
from silverball.kit.http.endpoints import Access, Call, delete, get, post
from silverball.kit.http.query import Query
from silverball.service.calls import Write
from silverball.service.frenzy import reads, writes
from silverball.service.frenzy.bodies import ClockAdjustment, NewFrenzySpot
from silverball_wire.frenzy import FrenzyState

FRENZY = "/api/tournaments/{tournament_id}/frenzy"


@get("/api/tournaments/{tournament_id}/frenzy", access=Access.OPENABLE)
def show_frenzy(call: Call[Query]) -> FrenzyState:
    """The current games and queue of a frenzy."""
    with call.read() as db:
        return reads.frenzy_state(db, call.ids["tournament_id"])


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
