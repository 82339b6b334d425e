"""Clubs over HTTP."""

from silverball.kit.http import Call, get
from silverball.kit.query import Query
from silverball.service.clubs import reads
from silverball.wire.clubs import Club
from silverball.wire.pages import Data


@get("/api/clubs/{club_id}")
def one_club(call: Call[Query]) -> Data[Club]:
    """A club."""
    with call.read() as db:
        return Data(data=reads.one(db, call.ids["club_id"]))
