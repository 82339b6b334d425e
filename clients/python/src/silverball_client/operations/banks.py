"""Operations of `client.banks`."""

from collections.abc import Sequence
from typing import Literal

from msgspec import UNSET, UnsetType

from silverball_client.calling import M, Request, Resource, operation, paged
from silverball_wire.arenas import Bank


class BanksResource(Resource[M]):
    """Operations of `client.banks`."""

    @operation
    def create(
        self,
        *,
        name: str,
        status: Literal["active", "inactive"] | UnsetType = UNSET,
        arena_ids: Sequence[int] | UnsetType = UNSET,
        idempotency_key: str | None = None,
    ) -> Request[Bank]:
        """Add a bank to the caller's book.

        `POST /api/banks`. Needs a token with the ability `manage`.
        """
        return Request(
            "POST",
            ("banks",),
            Bank,
            in_data=True,
            body={"name": name, "status": status, "arenaIds": arena_ids},
            is_write=True,
            idempotency_key=idempotency_key,
        )

    @operation
    def delete(self, bank_id: int, *, idempotency_key: str | None = None) -> Request[Bank]:
        """Delete an unused bank from the book; answers its last state.

        `DELETE /api/banks/{bankId}`. Needs a token with the ability `manage`.
        """
        return Request(
            "DELETE",
            ("banks", bank_id),
            Bank,
            in_data=True,
            is_write=True,
            idempotency_key=idempotency_key,
        )

    @paged
    def list(
        self,
        *,
        status: Literal["active", "inactive"] | None = None,
        banks: Sequence[int] | None = None,
        page: int = 1,
    ) -> Request[Bank]:
        """The caller's banks.

        `GET /api/banks`.
        """
        return Request(
            "GET",
            ("banks",),
            Bank,
            query={"status": status, "banks": banks, "page": page},
        )

    @operation
    def update(
        self,
        bank_id: int,
        *,
        name: str | UnsetType = UNSET,
        status: Literal["active", "inactive"] | UnsetType = UNSET,
        arena_ids: Sequence[int] | UnsetType = UNSET,
        idempotency_key: str | None = None,
    ) -> Request[Bank]:
        """Change a bank of the caller's book; its tournaments show the change.

        `PATCH /api/banks/{bankId}`. Needs a token with the ability `manage`.
        """
        return Request(
            "PATCH",
            ("banks", bank_id),
            Bank,
            in_data=True,
            body={"name": name, "status": status, "arenaIds": arena_ids},
            is_write=True,
            idempotency_key=idempotency_key,
        )
