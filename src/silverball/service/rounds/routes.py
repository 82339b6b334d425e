"""Rounds over HTTP: the list, and rounds drawn, changed, completed and deleted."""

from silverball.kit.http.body import Body
from silverball.kit.http.endpoints import Access, Call, delete, get, patch, post
from silverball.service.calls import Write
from silverball.service.history import reads as history
from silverball.service.history.reads import PastQuery
from silverball.service.rounds import reads, writes
from silverball.service.rounds.bodies import NewRound, RoundPatch
from silverball_wire.pages import Data
from silverball_wire.rounds import DrawnRound, Round

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
    """Draw and open the next round with its games; `dryRun` answers with the draw and stores nothing."""
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
