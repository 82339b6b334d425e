"""API tokens as their owners see them. Our addition."""

from silverball_wire.base import UNSET, Instant, UnsetType, Wire


class ApiToken(Wire, frozen=True, kw_only=True):
    """A token. Its secret is present only once, in the answer that creates or rotates it."""

    token_id: int
    name: str
    """Name by which the token is listed."""
    # One of read, score, manage, admin.
    ability: str
    created_at: Instant
    last_used_at: Instant | None
    """When it was last used, to the minute; null before the first time."""
    expires_at: Instant | None
    """When it expires; null for never."""
    token: str | UnsetType | None = UNSET
    """The token itself, only in the answer that creates or rotates it; null when that request is repeated."""
