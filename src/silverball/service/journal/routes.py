"""The audit log over HTTP."""

from silverball.kit.http.endpoints import Access, Call, UncachedResult, get
from silverball.service.core import calls
from silverball.service.journal.reads import audit
from silverball_wire.pages import Page
from silverball_wire.tournaments import AuditEntry


# Refusals are counted without a new revision, so these answers are not cached.
@get("/api/audit", query=audit.AuditQuery, access=Access.OWN)
def list_audit_entries(call: Call[audit.AuditQuery]) -> UncachedResult[Page[AuditEntry]]:
    """List what concerned security, newest first; for administrators only."""
    with call.read() as db:
        page = audit.audit_page(db, call.query, call.caller)
    return UncachedResult(calls.full_page(call, page, per_page=audit.PER_PAGE))
