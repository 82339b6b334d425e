"""Operations of `client.locations`."""

from collections.abc import Sequence
from typing import Literal

from msgspec import UNSET, UnsetType

from silverball_client.calling import M, Request, Resource, operation, paged
from silverball_wire.arenas import Location


class LocationsResource(Resource[M]):
    """Operations of `client.locations`."""

    @operation
    def create(
        self,
        *,
        name: str,
        address: str | None | UnsetType = UNSET,
        lat: float | None | UnsetType = UNSET,
        lng: float | None | UnsetType = UNSET,
        status: Literal["active", "inactive"] | UnsetType = UNSET,
        pinballmap_id: int | None | UnsetType = UNSET,
        idempotency_key: str | None = None,
    ) -> Request[Location]:
        """Add a location to the caller's book.

        `POST /api/locations`. Needs a token with the ability `manage`.
        """
        return Request(
            "POST",
            ("locations",),
            Location,
            in_data=True,
            body={
                "name": name,
                "address": address,
                "lat": lat,
                "lng": lng,
                "status": status,
                "pinballmapId": pinballmap_id,
            },
            is_write=True,
            idempotency_key=idempotency_key,
        )

    @operation
    def delete(self, location_id: int, *, idempotency_key: str | None = None) -> Request[Location]:
        """Delete a location that is not in use, and return it as it was.

        `DELETE /api/locations/{locationId}`. Needs a token with the ability `manage`.
        """
        return Request(
            "DELETE",
            ("locations", location_id),
            Location,
            in_data=True,
            is_write=True,
            idempotency_key=idempotency_key,
        )

    @paged
    def list(
        self,
        *,
        status: Literal["active", "inactive"] | None = None,
        locations: Sequence[int] | None = None,
        page: int = 1,
    ) -> Request[Location]:
        """The caller's locations.

        `GET /api/locations`.
        """
        return Request(
            "GET",
            ("locations",),
            Location,
            query={"status": status, "locations": locations, "page": page},
        )

    @operation
    def update(
        self,
        location_id: int,
        *,
        name: str | UnsetType = UNSET,
        address: str | UnsetType | None = UNSET,
        lat: float | UnsetType | None = UNSET,
        lng: float | UnsetType | None = UNSET,
        status: Literal["active", "inactive"] | UnsetType = UNSET,
        pinballmap_id: int | UnsetType | None = UNSET,
        idempotency_key: str | None = None,
    ) -> Request[Location]:
        """Change a location of the caller's book, in all tournaments.

        `PATCH /api/locations/{locationId}`. Needs a token with the ability `manage`.
        """
        return Request(
            "PATCH",
            ("locations", location_id),
            Location,
            in_data=True,
            body={
                "name": name,
                "address": address,
                "lat": lat,
                "lng": lng,
                "status": status,
                "pinballmapId": pinballmap_id,
            },
            is_write=True,
            idempotency_key=idempotency_key,
        )
