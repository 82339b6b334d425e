"""The audit log over HTTP."""

from silverball.kit.http.endpoints import Access, Call, UncachedResult, get
from silverball.service import pages
from silverball.service.audit import reads
from silverball_wire.audit import AuditEntry
from silverball_wire.pages import Page


# Refusals are counted without a new revision, so these answers are not cached.
@get("/api/audit", query=reads.AuditQuery, access=Access.OWN)
def list_audit_entries(call: Call[reads.AuditQuery]) -> UncachedResult[Page[AuditEntry]]:
    """List what concerned security, newest first; for administrators only."""
    with call.read() as db:
        page = reads.audit_page(db, call.query, call.caller)
    return UncachedResult(pages.full_page(call, page, per_page=reads.PER_PAGE))
