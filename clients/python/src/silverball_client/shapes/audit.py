"""The audit log as administrators see it. Our addition."""

from silverball_client.shapes.base import Shape


class AuditEntry(Shape, frozen=True, kw_only=True):
    """Something that concerns security. Refusals of one address are one entry a minute."""

    audit_entry_id: int
    event: str
    user_id: int | None
    source: str
    detail: str
    at: str
    last_at: str
    count: int
