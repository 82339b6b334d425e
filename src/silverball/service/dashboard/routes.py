"""The dashboard over HTTP."""

from silverball.kit.http.endpoints import Access, Call, get
from silverball.kit.http.query import Query
from silverball.service.dashboard import reads
from silverball_wire.dashboard import Dashboard


@get("/api/dashboard", access=Access.OWN)
def show_dashboard(call: Call[Query]) -> Dashboard:
    """Active tournaments and series that the caller plays or organizes."""
    with call.read() as db:
        return reads.user_dashboard(db, call.caller)
