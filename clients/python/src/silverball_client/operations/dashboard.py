"""Operations of `client.dashboard`."""

from silverball_client.calling import M, Request, Resource, operation
from silverball_wire.occasions import Dashboard


class DashboardResource(Resource[M]):
    """Operations of `client.dashboard`."""

    @operation
    def get(self) -> Request[Dashboard]:
        """Active tournaments and series that the caller plays or organizes.

        `GET /api/dashboard`.
        """
        return Request(
            "GET",
            ("dashboard",),
            Dashboard,
        )
