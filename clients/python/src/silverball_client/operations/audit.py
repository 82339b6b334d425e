"""Operations of `client.audit`."""

from silverball_client.calling import M, Request, Resource, paged
from silverball_wire.generated.words import SecurityEvent
from silverball_wire.tournaments import AuditEntry


class AuditResource(Resource[M]):
    """Operations of `client.audit`."""

    @paged
    def list(
        self, *, event: SecurityEvent | None = None, user_id: int | None = None, page: int = 1
    ) -> Request[AuditEntry]:
        """List what concerned security, newest first; for administrators only.

        `GET /api/audit`.
        """
        return Request(
            "GET",
            ("audit",),
            AuditEntry,
            query={"event": event, "userId": user_id, "page": page},
        )
