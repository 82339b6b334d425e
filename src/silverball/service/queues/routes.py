"""Queues over HTTP."""

from silverball.kit.http.body import Body
from silverball.kit.http.endpoints import TOURNAMENT, Access, Call, delete, get, post
from silverball.kit.http.query import Query
from silverball.service.calls import Write
from silverball.service.core import shared_rooms
from silverball.service.queues import reads, writes
from silverball.service.singleplayer import reads as attempts
from silverball_wire.pages import Data
from silverball_wire.queues import ArenaQueues, QueueEntry
from silverball_wire.singleplayer import SinglePlayerGame

LIST = "/api/tournaments/{tournament_id}/queues"
ONE = LIST + "/{queue_id}"


@get(LIST, access=Access.OPENABLE)
def show_queues(call: Call[Query]) -> ArenaQueues:
    """Queues of a best game, by arena."""
    with call.read() as db:
        tournament_id = call.ids[TOURNAMENT]
        return reads.queues_by_arena(db, tournament_id, shared_rooms.busy_player_ids(db, tournament_id))


@post(LIST, body=writes.NewQueueSpot, ability="score", status=201)
def join_queue(call: Write[writes.NewQueueSpot]) -> Data[QueueEntry]:
    """Add a player to the end of an arena's queue."""
    return Data(data=reads.find_spot(call.db, call.ids[TOURNAMENT], writes.join_queue(call)))


@delete(ONE, ability="score")
def leave_queue(call: Write[Body]) -> Data[QueueEntry]:
    """Remove a spot from a queue; answers its last state."""
    left = reads.find_spot(call.db, call.ids[TOURNAMENT], call.ids["queue_id"])
    writes.leave_queue(call)
    return Data(data=left)


@post(ONE + "/move", ability="score")
def move_in_queue(call: Write[Body]) -> Data[QueueEntry]:
    """Swap an absent player with the next one in line."""
    return Data(data=reads.find_spot(call.db, call.ids[TOURNAMENT], writes.move_in_queue(call)))


@post(ONE + "/start", ability="score")
def start_from_queue(call: Write[Body]) -> Data[SinglePlayerGame]:
    """Start the game of the first player in line."""
    return Data(
        data=attempts.find_single_player_game(call.db, call.ids[TOURNAMENT], writes.start_from_queue(call))
    )
