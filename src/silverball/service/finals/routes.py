"""Finals over HTTP: the steps of a night, and a final that follows its source."""

from typing import Any

from silverball.kit.errors import NotAllowed
from silverball.kit.http.endpoints import TOURNAMENT, Access, Call, UncachedResult, get, post, put
from silverball.kit.http.query import Query
from silverball.rules.model.tournament import Tournament
from silverball.service.core import access, loaded
from silverball.service.core.calls import Write
from silverball.service.finals import bodies, reads, writes
from silverball.service.finals.bodies import FollowSource, PlannedFinals
from silverball_wire.finals import Finals
from silverball_wire.pages import Data

FINALS = "/api/tournaments/{tournament_id}/finals"


@get(FINALS, access=Access.OWN)
def show_finals(call: Call[Query]) -> UncachedResult[Data[Finals]]:
    """The finals of the caller's tournament, who would go on, and how a final differs from its source."""
    # What its source gives changes without a new revision of the final.
    with call.read() as db:
        tournament = loaded.load_with_revision(db, call.ids[TOURNAMENT]).tournament
        if call.caller is None or not access.is_organizer(call.caller, tournament):
            raise NotAllowed
        return UncachedResult(Data(data=reads.finals_of(db, tournament, call.caller)))


@put(FINALS, body=bodies.PlannedFinals, ability="manage")
def plan_finals(call: Write[PlannedFinals]) -> Data[Finals]:
    """Set the finals that a tournament leads to."""
    return _finals_on_wire(call, writes.plan_finals(call))


@post(FINALS + "/follow", body=bodies.FollowSource, ability="manage")
def follow_source_of_final(call: Write[FollowSource]) -> Data[Finals]:
    """Let a final without results take over what its source gives now, start taken back."""
    return _finals_on_wire(call, writes.follow_source(call))


def _finals_on_wire(call: Write[Any], tournament: Tournament) -> Data[Finals]:
    return Data(data=reads.finals_of(call.db, tournament, call.caller))
