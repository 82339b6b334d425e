"""Operations of `client.tokens`."""

from typing import Literal

from msgspec import UNSET, UnsetType

from silverball_client.calling import M, Request, Resource, operation
from silverball_wire.players import ApiToken


class TokensResource(Resource[M]):
    """Operations of `client.tokens`."""

    @operation
    def create(
        self,
        *,
        name: str,
        ability: Literal["read", "score", "manage", "admin"] | UnsetType = UNSET,
        expires_days: int | None | UnsetType = UNSET,
        idempotency_key: str | None = None,
    ) -> Request[ApiToken]:
        """Create a token, shown only once. It can do no more than the token that creates it.

        `POST /api/tokens`. Needs a token with the ability `score`.
        """
        return Request(
            "POST",
            ("tokens",),
            ApiToken,
            in_data=True,
            body={"name": name, "ability": ability, "expiresDays": expires_days},
            is_write=True,
            idempotency_key=idempotency_key,
        )

    @operation
    def list(self) -> Request[tuple[ApiToken, ...]]:
        """The caller's tokens without their secrets, newest first.

        `GET /api/tokens`.
        """
        return Request(
            "GET",
            ("tokens",),
            tuple[ApiToken, ...],
            in_data=True,
        )

    @operation
    def revoke(self, token_id: int, *, idempotency_key: str | None = None) -> Request[ApiToken]:
        """Revoke a token of the caller, and return it as it was.

        `DELETE /api/tokens/{tokenId}`. Needs a token with the ability `score`.
        """
        return Request(
            "DELETE",
            ("tokens", token_id),
            ApiToken,
            in_data=True,
            is_write=True,
            idempotency_key=idempotency_key,
        )

    @operation
    def rotate(self, token_id: int, *, idempotency_key: str | None = None) -> Request[ApiToken]:
        """Give a token of the caller a new secret, shown only once; the old one works no longer.

        `POST /api/tokens/{tokenId}/rotate`. Needs a token with the ability `read`.
        """
        return Request(
            "POST",
            ("tokens", token_id, "rotate"),
            ApiToken,
            in_data=True,
            is_write=True,
            idempotency_key=idempotency_key,
        )
