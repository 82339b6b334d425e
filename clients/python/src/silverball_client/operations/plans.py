"""Operations of `client.plans`."""

from collections.abc import Sequence

from silverball_client.calling import M, Request, Resource, operation
from silverball_wire.plans import Plan


class PlansResource(Resource[M]):
    """Operations of `client.plans`."""

    @operation
    def create(
        self,
        *,
        players: int,
        machines: int | None = None,
        arena_ids: Sequence[int] | None = None,
        start: str | None = None,
        closes: str | None = None,
        types: Sequence[str] | None = None,
    ) -> Request[Plan]:
        """Plan a night: each format and number of rounds, and when it would end.

        `POST /api/plan`.
        """
        return Request(
            "POST",
            ("plan",),
            Plan,
            in_data=True,
            body={
                "players": players,
                "machines": machines,
                "arenaIds": arena_ids,
                "start": start,
                "closes": closes,
                "types": types,
            },
        )
