"""Occasions over HTTP."""

from silverball.kit.http.body import Body
from silverball.kit.http.endpoints import Call, delete, get, patch, post
from silverball.kit.http.query import Query
from silverball.service import pages
from silverball.service.calls import Write
from silverball.service.occasions import reads, writes
from silverball.store import book
from silverball_wire.occasions import Occasion
from silverball_wire.pages import Data, Page
from silverball_wire.parts import OccasionListItem


@get("/api/events", query=reads.OccasionQuery)
def list_occasions(call: Call[reads.OccasionQuery]) -> Page[OccasionListItem]:
    """Occasions, newest first."""
    with call.read() as db:
        rows = reads.occasions_page(db, call.query)
    return pages.full_page(call, rows, per_page=reads.PER_PAGE)


@get("/api/events/{event_id}")
def show_occasion(call: Call[Query]) -> Data[Occasion]:
    """An occasion with its links and tournaments."""
    with call.read() as db:
        return Data(data=reads.find_occasion(db, call.ids["event_id"], call.caller))


@post("/api/events", body=writes.NewOccasion, ability="manage", status=201)
def add_occasion(call: Write[writes.NewOccasion]) -> Data[Occasion]:
    """Create an occasion."""
    return Data(data=reads.find_occasion(call.db, writes.add_occasion(call), call.caller))


@patch("/api/events/{event_id}", body=writes.ChangedOccasion, ability="manage")
def change_occasion(call: Write[writes.ChangedOccasion]) -> Data[Occasion]:
    """Change an occasion of the caller; lists of links and tournaments are replaced as a whole."""
    return Data(data=reads.find_occasion(call.db, writes.change_occasion(call), call.caller))


@delete("/api/events/{event_id}", ability="manage")
def delete_occasion(call: Write[Body]) -> Data[Occasion]:
    """Delete an occasion without tournaments; answers its last state."""
    occasion_id = writes.require_removable(call)
    removed = reads.find_occasion(call.db, occasion_id, call.caller)
    book.remove(call.db, book.OCCASION, occasion_id)
    return Data(data=removed)
