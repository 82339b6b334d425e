"""Search over HTTP."""

from silverball.kit.http.endpoints import Access, Call, get
from silverball.service import pages
from silverball.service.search import reads
from silverball_wire.pages import Page
from silverball_wire.search import SearchResult


@get("/api/search", query=reads.SearchQuery, access=Access.OPENABLE)
def search(call: Call[reads.SearchQuery]) -> Page[SearchResult]:
    """Users, tournaments or series by name."""
    with call.read() as db:
        page = reads.results_page(db, call.query, call.caller)
    return pages.full_page(call, page, per_page=reads.PER_PAGE)
