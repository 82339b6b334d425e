"""Operations of `client.activity_logs`."""

from silverball_client.calling import M, Request, Resource, paged
from silverball_wire.tournaments import ActivityLog


class ActivityLogsResource(Resource[M]):
    """Operations of `client.activity_logs`."""

    @paged
    def list(
        self, *, tournament: int | None = None, action: str | None = None, page: int = 1
    ) -> Request[ActivityLog]:
        """Changes in one tournament of the caller, or in all of them, newest first.

        `GET /api/activity-logs`.
        """
        return Request(
            "GET",
            ("activity-logs",),
            ActivityLog,
            query={"tournament": tournament, "action": action, "page": page},
        )
