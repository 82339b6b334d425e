"""API tokens as their owners see them. Our addition."""

from msgspec import UNSET, UnsetType

from silverball_client.shapes.base import Shape


class ApiToken(Shape, frozen=True, kw_only=True):
    """A token. Its secret is present only once, in the answer that creates or rotates it."""

    token_id: int
    name: str
    ability: str
    created_at: str
    last_used_at: str | None
    expires_at: str | None
    token: str | UnsetType | None = UNSET
