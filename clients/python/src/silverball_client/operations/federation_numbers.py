"""Operations of `client.federation_numbers`."""

from typing import Literal

from silverball_client.calling import M, Request, Resource, paged
from silverball_wire.ratings import AccountNumber


class FederationNumbersResource(Resource[M]):
    """Operations of `client.federation_numbers`."""

    @paged
    def list(
        self, *, status: Literal["waiting", "confirmed"] | None = None, page: int = 1
    ) -> Request[AccountNumber]:
        """List the numbers that wait for a confirmation, or those confirmed; for administrators only.

        `GET /api/federation-numbers`.
        """
        return Request(
            "GET",
            ("federation-numbers",),
            AccountNumber,
            query={"status": status, "page": page},
        )
