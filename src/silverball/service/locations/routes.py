"""Locations over HTTP."""

from silverball.kit.http import Access, Call, get
from silverball.service import pages
from silverball.service.locations import reads
from silverball.wire.locations import Location
from silverball.wire.pages import Page


@get("/api/locations", query=reads.LocationQuery, access=Access.OWN)
def list_locations(call: Call[reads.LocationQuery]) -> Page[Location]:
    """The caller's locations."""
    with call.read() as db:
        found = reads.owned_by(db, call.user_id, call.query)
    return pages.page(call, found, per_page=reads.PER_PAGE)
