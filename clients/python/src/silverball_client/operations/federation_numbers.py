"""Operations of `client.federation_numbers`."""

from collections.abc import Sequence
from typing import Literal

from silverball_client.bodies import ShownNumber
from silverball_client.calling import M, Request, Resource, operation, paged
from silverball_wire.ratings import AccountNumber, NumberBatch


class FederationNumbersResource(Resource[M]):
    """Operations of `client.federation_numbers`."""

    @operation
    def confirm_all(
        self, *, numbers: Sequence[ShownNumber], idempotency_key: str | None = None
    ) -> Request[NumberBatch]:
        """Confirm those of these that have no obstacles.

        `POST /api/federation-numbers/batches`. Needs a token with the ability `admin`.
        """
        return Request(
            "POST",
            ("federation-numbers", "batches"),
            NumberBatch,
            in_data=True,
            body={"numbers": numbers},
            is_write=True,
            idempotency_key=idempotency_key,
        )

    @paged
    def list(
        self,
        *,
        status: Literal["waiting", "confirmed"] | None = None,
        batch_id: int | None = None,
        limit: int | None = None,
        page: int = 1,
    ) -> Request[AccountNumber]:
        """List the numbers that wait, or those confirmed; for administrators.

        `GET /api/federation-numbers`.
        """
        return Request(
            "GET",
            ("federation-numbers",),
            AccountNumber,
            query={"status": status, "batchId": batch_id, "limit": limit, "page": page},
        )

    @operation
    def take_back(self, batch_id: int, *, idempotency_key: str | None = None) -> Request[NumberBatch]:
        """Take back a batch.

        `DELETE /api/federation-numbers/batches/{batchId}`. Needs a token with the ability `admin`.
        """
        return Request(
            "DELETE",
            ("federation-numbers", "batches", batch_id),
            NumberBatch,
            in_data=True,
            is_write=True,
            idempotency_key=idempotency_key,
        )
