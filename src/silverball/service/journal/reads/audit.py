"""The audit log, for administrators."""

from typing import Any

from sqlalchemy import Connection, func, select

from silverball.kit.errors import NotAllowed
from silverball.kit.http.query import PageNumber, Query
from silverball.service.core.access import AuthenticatedCaller
from silverball.service.core.calls import PageRows, refuse_deep_pagination
from silverball.store.people.audit import SecurityEvent
from silverball.store.tables import audit_entry
from silverball_wire import base
from silverball_wire.base import Id
from silverball_wire.tournaments import AuditEntry

PER_PAGE = 25
_ENTRY = audit_entry.c


class AuditQuery(Query, frozen=True, kw_only=True):
    """Parameters of GET /api/audit."""

    event: SecurityEvent | None = None
    """Only entries of this event."""
    user_id: Id | None = None
    """Only entries of this account."""
    page: PageNumber = 1


def audit_page(db: Connection, query: AuditQuery, viewer: AuthenticatedCaller | None) -> PageRows[AuditEntry]:
    """Return a page of the log, newest first. Raises NotAllowed for all but administrators."""
    if viewer is None or not viewer.is_admin:
        raise NotAllowed
    refuse_deep_pagination(query.page, PER_PAGE)
    wanted = {_ENTRY.event: query.event, _ENTRY.user_id: query.user_id}
    conditions = [column == value for column, value in wanted.items() if value is not None]
    total = db.execute(select(func.count()).select_from(audit_entry).where(*conditions)).scalar_one()
    rows = select(audit_entry).where(*conditions).order_by(_ENTRY.audit_entry_id.desc())
    listed = db.execute(rows.limit(PER_PAGE).offset((query.page - 1) * PER_PAGE))
    return PageRows([_wire_entry(row) for row in listed], total)


def _wire_entry(row: Any) -> AuditEntry:
    return AuditEntry(
        audit_entry_id=row.audit_entry_id,
        event=row.event,
        user_id=row.user_id,
        source=row.source,
        detail=row.detail,
        at=base.iso(row.at),
        last_at=base.iso(row.last_at),
        count=row.count,
    )
