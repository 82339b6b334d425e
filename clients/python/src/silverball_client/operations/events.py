"""Operations of `client.events`."""

from collections.abc import Sequence
from datetime import datetime
from typing import Literal

from msgspec import UNSET, UnsetType

from silverball_client.bodies import NewOccasionLink, NewOccasionTournament
from silverball_client.calling import M, Request, Resource, operation, paged
from silverball_wire.occasions import Occasion
from silverball_wire.parts import OccasionListItem


class EventsResource(Resource[M]):
    """Operations of `client.events`."""

    @operation
    def create(
        self,
        *,
        name: str,
        start_utc: datetime | str,
        status: Literal["active", "inactive"] | UnsetType = UNSET,
        end_utc: datetime | str | None | UnsetType = UNSET,
        registration_utc: datetime | str | None | UnsetType = UNSET,
        timezone: str | UnsetType = UNSET,
        location_id: int | None | UnsetType = UNSET,
        contact_email: str | None | UnsetType = UNSET,
        description: str | None | UnsetType = UNSET,
        description_collapse: bool | UnsetType = UNSET,
        banner: str | None | UnsetType = UNSET,
        layout: str | UnsetType = UNSET,
        layout_order: str | UnsetType = UNSET,
        links: Sequence[NewOccasionLink] | UnsetType = UNSET,
        tournaments: Sequence[NewOccasionTournament] | UnsetType = UNSET,
        idempotency_key: str | None = None,
    ) -> Request[Occasion]:
        """Create an occasion.

        `POST /api/events`. Needs a token with the ability `manage`.
        """
        return Request(
            "POST",
            ("events",),
            Occasion,
            in_data=True,
            body={
                "name": name,
                "status": status,
                "startUtc": start_utc,
                "endUtc": end_utc,
                "registrationUtc": registration_utc,
                "timezone": timezone,
                "locationId": location_id,
                "contactEmail": contact_email,
                "description": description,
                "descriptionCollapse": description_collapse,
                "banner": banner,
                "layout": layout,
                "layoutOrder": layout_order,
                "links": links,
                "tournaments": tournaments,
            },
            is_write=True,
            idempotency_key=idempotency_key,
        )

    @operation
    def delete(self, event_id: int, *, idempotency_key: str | None = None) -> Request[Occasion]:
        """Delete an occasion without tournaments; answers its last state.

        `DELETE /api/events/{eventId}`. Needs a token with the ability `manage`.
        """
        return Request(
            "DELETE",
            ("events", event_id),
            Occasion,
            in_data=True,
            is_write=True,
            idempotency_key=idempotency_key,
        )

    @operation
    def get(self, event_id: int) -> Request[Occasion]:
        """An occasion with its links and tournaments.

        `GET /api/events/{eventId}`.
        """
        return Request(
            "GET",
            ("events", event_id),
            Occasion,
            in_data=True,
        )

    @paged
    def list(self, *, page: int = 1) -> Request[OccasionListItem]:
        """Occasions, newest first.

        `GET /api/events`.
        """
        return Request(
            "GET",
            ("events",),
            OccasionListItem,
            query={"page": page},
        )

    @operation
    def update(
        self,
        event_id: int,
        *,
        name: str | UnsetType = UNSET,
        status: Literal["active", "inactive"] | UnsetType = UNSET,
        start_utc: datetime | str | UnsetType = UNSET,
        end_utc: datetime | str | UnsetType | None = UNSET,
        registration_utc: datetime | str | UnsetType | None = UNSET,
        timezone: str | UnsetType = UNSET,
        location_id: int | UnsetType | None = UNSET,
        contact_email: str | UnsetType | None = UNSET,
        description: str | UnsetType | None = UNSET,
        description_collapse: bool | UnsetType = UNSET,
        banner: str | UnsetType | None = UNSET,
        layout: str | UnsetType = UNSET,
        layout_order: str | UnsetType = UNSET,
        links: Sequence[NewOccasionLink] | UnsetType = UNSET,
        tournaments: Sequence[NewOccasionTournament] | UnsetType = UNSET,
        idempotency_key: str | None = None,
    ) -> Request[Occasion]:
        """Change an occasion of the caller; lists of links and tournaments are replaced as a whole.

        `PATCH /api/events/{eventId}`. Needs a token with the ability `manage`.
        """
        return Request(
            "PATCH",
            ("events", event_id),
            Occasion,
            in_data=True,
            body={
                "name": name,
                "status": status,
                "startUtc": start_utc,
                "endUtc": end_utc,
                "registrationUtc": registration_utc,
                "timezone": timezone,
                "locationId": location_id,
                "contactEmail": contact_email,
                "description": description,
                "descriptionCollapse": description_collapse,
                "banner": banner,
                "layout": layout,
                "layoutOrder": layout_order,
                "links": links,
                "tournaments": tournaments,
            },
            is_write=True,
            idempotency_key=idempotency_key,
        )
