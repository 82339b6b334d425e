"""Occasions over HTTP."""

from silverball.kit.http import Call, get
from silverball.kit.query import Query
from silverball.service import pages
from silverball.service.occasions import reads
from silverball.wire.occasions import Occasion
from silverball.wire.pages import Data, Page
from silverball.wire.parts import OccasionListItem


@get("/api/events", query=reads.OccasionQuery)
def list_occasions(call: Call[reads.OccasionQuery]) -> Page[OccasionListItem]:
    """Occasions, newest first."""
    with call.read() as db:
        found = reads.page(db, call.query)
    return pages.page(call, found, per_page=reads.PER_PAGE)


@get("/api/events/{event_id}")
def one_occasion(call: Call[Query]) -> Data[Occasion]:
    """An occasion with its links and tournaments."""
    with call.read() as db:
        return Data(data=reads.one(db, call.ids["event_id"], call.caller))
