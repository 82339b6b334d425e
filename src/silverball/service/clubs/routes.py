"""Clubs over HTTP."""

import msgspec

from silverball.kit.http.body import Body
from silverball.kit.http.endpoints import Call, delete, get, patch, post
from silverball.kit.http.query import Query
from silverball.service.calls import Write
from silverball.service.clubs import reads, writes
from silverball_wire.clubs import Club
from silverball_wire.pages import Data


@get("/api/clubs/{club_id}")
def show_club(call: Call[Query]) -> Data[Club]:
    """A club."""
    with call.read() as db:
        return Data(data=reads.find_club(db, call.ids["club_id"]))


@post("/api/clubs", body=writes.NewClub, ability="manage", status=201)
def add_club(call: Write[writes.NewClub]) -> Data[Club]:
    """Create a club, with the caller as its leader and first member."""
    given = msgspec.structs.asdict(call.body)
    return Data(data=reads.find_club(call.db, writes.create_club(call.transaction, call.user_id, **given)))


@patch("/api/clubs/{club_id}", body=writes.ChangedClub, ability="manage")
def change_club(call: Write[writes.ChangedClub]) -> Data[Club]:
    """Change a club that the caller leads."""
    return Data(data=reads.find_club(call.db, writes.change_club(call)))


@delete("/api/clubs/{club_id}", ability="manage")
def delete_club(call: Write[Body]) -> Data[Club]:
    """Delete a club that the caller leads, and return it as it was."""
    removed = reads.find_club(call.db, call.ids["club_id"])
    writes.delete_club(call)
    return Data(data=removed)
