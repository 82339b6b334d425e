"""API tokens as their owners see them. Ours: no other client knows them."""

from silverball.wire.base import UNSET, UnsetType, Wire


class ApiToken(Wire, frozen=True, kw_only=True):
    """A token: everything but the secret, which is there once, in the answer that made it."""

    token_id: int
    name: str
    # read, score, manage or admin.
    ability: str
    created_at: str
    last_used_at: str | None
    expires_at: str | None
    # The whole token. Null when the request that made it is sent again: it is not stored anywhere.
    token: str | UnsetType | None = UNSET
