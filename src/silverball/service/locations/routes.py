"""Locations over HTTP."""

from silverball.kit.http.body import Body
from silverball.kit.http.endpoints import Access, Call, delete, get, patch, post
from silverball.service import pages
from silverball.service.calls import Write
from silverball.service.locations import reads, writes
from silverball.store import book
from silverball_wire.locations import Location
from silverball_wire.pages import Data, Page


@get("/api/locations", query=reads.LocationQuery, access=Access.OWN)
def list_locations(call: Call[reads.LocationQuery]) -> Page[Location]:
    """The caller's locations."""
    with call.read() as db:
        page = reads.owned_by(db, call.user_id, call.query)
    return pages.full_page(call, page, per_page=reads.PER_PAGE)


@post("/api/locations", body=writes.NewLocation, ability="manage", status=201)
def add_location(call: Write[writes.NewLocation]) -> Data[Location]:
    """Add a location to the caller's book."""
    return Data(data=reads.find_location(call.db, writes.add_location(call)))


@patch("/api/locations/{location_id}", body=writes.ChangedLocation, ability="manage")
def change_location(call: Write[writes.ChangedLocation]) -> Data[Location]:
    """Change a location of the caller's book, in all tournaments."""
    return Data(data=reads.find_location(call.db, writes.change_location(call)))


@delete("/api/locations/{location_id}", ability="manage")
def delete_location(call: Write[Body]) -> Data[Location]:
    """Delete a location that is not in use, and return it as it was."""
    location_id = writes.require_removable(call)
    removed = reads.find_location(call.db, location_id)
    book.remove(call.db, book.LOCATION, location_id)
    return Data(data=removed)
