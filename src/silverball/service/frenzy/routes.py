"""A frenzy: the live view, its clock and its queue."""

from silverball.kit.http.body import Body
from silverball.kit.http.endpoints import Access, Call, delete, get, post
from silverball.kit.http.query import Query
from silverball.service.calls import Write
from silverball.service.frenzy import reads, writes
from silverball.service.frenzy.bodies import ClockAdjustment, NewFrenzySpot
from silverball.wire.frenzy import FrenzyState

FRENZY = "/api/tournaments/{tournament_id}/frenzy"


@get("/api/tournaments/{tournament_id}/frenzy", access=Access.OPENABLE)
def show_frenzy(call: Call[Query]) -> FrenzyState:
    """The frenzy as it stands: games and queue."""
    with call.read() as db:
        return reads.frenzy_state(db, call.ids["tournament_id"])


@post(FRENZY + "/pause", ability="manage")
def pause_frenzy(call: Write[Body]) -> FrenzyState:
    """The clock stops: no new game starts."""
    return writes.pause_clock(call)


@post(FRENZY + "/resume", ability="manage")
def resume_frenzy(call: Write[Body]) -> FrenzyState:
    """The clock runs on, and those who wait start."""
    return writes.resume_clock(call)


@post(FRENZY + "/time", body=ClockAdjustment, ability="manage")
def change_time_of_frenzy(call: Write[ClockAdjustment]) -> FrenzyState:
    """Seconds added to the clock, or taken off."""
    return writes.change_clock(call)


@post(FRENZY + "/games", ability="score", status=201)
def start_waiting_players(call: Write[Body]) -> FrenzyState:
    """Games for whoever waits, on free arenas."""
    return writes.start_waiting_players(call)


@post(FRENZY + "/queue", body=NewFrenzySpot, ability="score", status=201)
def join_queue_of_frenzy(call: Write[NewFrenzySpot]) -> FrenzyState:
    """A player who was taken out waits again, at the end."""
    return writes.join_queue(call)


@delete(FRENZY + "/queue/{queue_id}", ability="score")
def leave_queue_of_frenzy(call: Write[Body]) -> FrenzyState:
    """Somebody who waits, taken out of the queue."""
    return writes.leave_queue(call)


@post(FRENZY + "/queue/{queue_id}/end", ability="score")
def send_to_end_of_frenzy(call: Write[Body]) -> FrenzyState:
    """Somebody who waits goes to the end of the queue."""
    return writes.send_to_end_of_queue(call)
