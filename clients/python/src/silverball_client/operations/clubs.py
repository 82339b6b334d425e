"""Operations of `client.clubs`."""

from msgspec import UNSET, UnsetType

from silverball_client.calling import M, Request, Resource, operation
from silverball_wire.players import Club


class ClubsResource(Resource[M]):
    """Operations of `client.clubs`."""

    @operation
    def create(
        self,
        *,
        name: str,
        logo: str | None | UnsetType = UNSET,
        description: str | None | UnsetType = UNSET,
        location: str | None | UnsetType = UNSET,
        idempotency_key: str | None = None,
    ) -> Request[Club]:
        """Create a club, with the caller as its leader and first member.

        `POST /api/clubs`. Needs a token with the ability `manage`.
        """
        return Request(
            "POST",
            ("clubs",),
            Club,
            in_data=True,
            body={"name": name, "logo": logo, "description": description, "location": location},
            is_write=True,
            idempotency_key=idempotency_key,
        )

    @operation
    def delete(self, club_id: int, *, idempotency_key: str | None = None) -> Request[Club]:
        """Delete a club that the caller leads, and return it as it was.

        `DELETE /api/clubs/{clubId}`. Needs a token with the ability `manage`.
        """
        return Request(
            "DELETE",
            ("clubs", club_id),
            Club,
            in_data=True,
            is_write=True,
            idempotency_key=idempotency_key,
        )

    @operation
    def get(self, club_id: int) -> Request[Club]:
        """A club.

        `GET /api/clubs/{clubId}`.
        """
        return Request(
            "GET",
            ("clubs", club_id),
            Club,
            in_data=True,
        )

    @operation
    def update(
        self,
        club_id: int,
        *,
        name: str | UnsetType = UNSET,
        logo: str | UnsetType | None = UNSET,
        description: str | UnsetType | None = UNSET,
        location: str | UnsetType | None = UNSET,
        idempotency_key: str | None = None,
    ) -> Request[Club]:
        """Change a club that the caller leads.

        `PATCH /api/clubs/{clubId}`. Needs a token with the ability `manage`.
        """
        return Request(
            "PATCH",
            ("clubs", club_id),
            Club,
            in_data=True,
            body={"name": name, "logo": logo, "description": description, "location": location},
            is_write=True,
            idempotency_key=idempotency_key,
        )
