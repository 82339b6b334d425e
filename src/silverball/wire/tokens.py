"""API tokens as their owners see them. Our addition."""

from silverball.wire.base import UNSET, UnsetType, Wire


class ApiToken(Wire, frozen=True, kw_only=True):
    """A token. Its secret is present only once, in the answer that creates it."""

    token_id: int
    name: str
    # One of read, score, manage, admin.
    ability: str
    created_at: str
    last_used_at: str | None
    expires_at: str | None
    # The full token; null when the request that created it is repeated, since it is stored nowhere.
    token: str | UnsetType | None = UNSET
