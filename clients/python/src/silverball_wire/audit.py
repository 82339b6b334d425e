"""The audit log as administrators see it. Our addition."""

from silverball_wire.base import Instant, Wire


class AuditEntry(Wire, frozen=True, kw_only=True):
    """Something that concerns security. Refusals of one address are one entry a minute."""

    audit_entry_id: int
    """Id of the entry; later entries have higher ones."""
    event: str
    """What happened: `sign-in`, `token-made` and so on, as the handbook lists them."""
    user_id: int | None
    """Id of the account that it was done with or to; null when there is none."""
    source: str
    """Address that it came from, or `command line`; empty for erased people and for many at once."""
    detail: str
    """More about it: the role of an account, the id of a token; often empty."""
    at: Instant
    """When it happened, for the first time in the entry."""
    last_at: Instant
    """When it happened for the last time in the entry."""
    count: int
    """How often it happened; above 1 only for refusals and downloads."""
