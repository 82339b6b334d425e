"""Operations of `client.pintips`."""

from silverball_client.calling import M, Request, Resource, operation
from silverball_wire.machines import PinTipsBundle


class PintipsResource(Resource[M]):
    """Operations of `client.pintips`."""

    @operation
    def list(self, *, opdb_id: str | None = None, arena_id: int | None = None) -> Request[PinTipsBundle]:
        """Playing tips for a machine or an arena; for every model of its title.

        `GET /api/pintips`.
        """
        return Request(
            "GET",
            ("pintips",),
            PinTipsBundle,
            query={"opdbId": opdb_id, "arenaId": arena_id},
        )
