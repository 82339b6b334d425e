"""Operations of `client.webhooks`."""

from collections.abc import Sequence
from typing import Literal

from msgspec import UNSET, UnsetType

from silverball_client.calling import M, Request, Resource, operation, paged
from silverball_wire.webhooks import DeliveryStatus, EventName, Webhook, WebhookDelivery


class WebhooksResource(Resource[M]):
    """Operations of `client.webhooks`."""

    @operation
    def create(
        self,
        tournament_id: int,
        *,
        url: str,
        name: str | UnsetType = UNSET,
        form: Literal["events", "text"] | UnsetType = UNSET,
        events: Sequence[EventName] | UnsetType = UNSET,
        is_active: bool | UnsetType = UNSET,
        idempotency_key: str | None = None,
    ) -> Request[Webhook]:
        """Create a webhook. The secret that signs its messages is shown only once.

        `POST /api/tournaments/{tournamentId}/webhooks`. Needs a token with the ability `manage`.
        """
        return Request(
            "POST",
            ("tournaments", tournament_id, "webhooks"),
            Webhook,
            in_data=True,
            body={"url": url, "name": name, "form": form, "events": events, "isActive": is_active},
            is_write=True,
            idempotency_key=idempotency_key,
        )

    @operation
    def delete(
        self, tournament_id: int, webhook_id: int, *, idempotency_key: str | None = None
    ) -> Request[Webhook]:
        """Delete a webhook and its deliveries, and return it as it was.

        `DELETE /api/tournaments/{tournamentId}/webhooks/{webhookId}`. Needs a token with the ability
        `manage`.
        """
        return Request(
            "DELETE",
            ("tournaments", tournament_id, "webhooks", webhook_id),
            Webhook,
            in_data=True,
            is_write=True,
            idempotency_key=idempotency_key,
        )

    @paged
    def deliveries(
        self, tournament_id: int, webhook_id: int, *, status: DeliveryStatus | None = None, page: int = 1
    ) -> Request[WebhookDelivery]:
        """Deliveries of a webhook with their outcome, newest first.

        `GET /api/tournaments/{tournamentId}/webhooks/{webhookId}/deliveries`.
        """
        return Request(
            "GET",
            ("tournaments", tournament_id, "webhooks", webhook_id, "deliveries"),
            WebhookDelivery,
            query={"status": status, "page": page},
        )

    @operation
    def get(self, tournament_id: int, webhook_id: int) -> Request[Webhook]:
        """A webhook, without its secret.

        `GET /api/tournaments/{tournamentId}/webhooks/{webhookId}`.
        """
        return Request(
            "GET",
            ("tournaments", tournament_id, "webhooks", webhook_id),
            Webhook,
            in_data=True,
        )

    @operation
    def replace_secret(
        self, tournament_id: int, webhook_id: int, *, idempotency_key: str | None = None
    ) -> Request[Webhook]:
        """Replace a webhook's secret. The new secret is shown only once.

        `POST /api/tournaments/{tournamentId}/webhooks/{webhookId}/secret`. Needs a token with the ability
        `manage`.
        """
        return Request(
            "POST",
            ("tournaments", tournament_id, "webhooks", webhook_id, "secret"),
            Webhook,
            in_data=True,
            is_write=True,
            idempotency_key=idempotency_key,
        )

    @operation
    def retry_delivery(
        self,
        tournament_id: int,
        webhook_id: int,
        webhook_delivery_id: int,
        *,
        idempotency_key: str | None = None,
    ) -> Request[WebhookDelivery]:
        """Retry a delivery at once.

        `POST /api/tournaments/{tournamentId}/webhooks/{webhookId}/deliveries/{webhookDeliveryId}/retry`.
        Needs a token with the ability `manage`.
        """
        return Request(
            "POST",
            (
                "tournaments",
                tournament_id,
                "webhooks",
                webhook_id,
                "deliveries",
                webhook_delivery_id,
                "retry",
            ),
            WebhookDelivery,
            in_data=True,
            is_write=True,
            idempotency_key=idempotency_key,
        )

    @operation
    def test(
        self, tournament_id: int, webhook_id: int, *, idempotency_key: str | None = None
    ) -> Request[WebhookDelivery]:
        """Send a test message; its delivery shows the outcome.

        `POST /api/tournaments/{tournamentId}/webhooks/{webhookId}/test`. Needs a token with the ability
        `manage`.
        """
        return Request(
            "POST",
            ("tournaments", tournament_id, "webhooks", webhook_id, "test"),
            WebhookDelivery,
            in_data=True,
            is_write=True,
            idempotency_key=idempotency_key,
        )

    @operation
    def update(
        self,
        tournament_id: int,
        webhook_id: int,
        *,
        url: str | UnsetType = UNSET,
        name: str | UnsetType = UNSET,
        form: Literal["events", "text"] | UnsetType = UNSET,
        events: Sequence[EventName] | UnsetType = UNSET,
        is_active: bool | UnsetType = UNSET,
        idempotency_key: str | None = None,
    ) -> Request[Webhook]:
        """Change a webhook's address, name, form or events, or switch it off or on.

        `PATCH /api/tournaments/{tournamentId}/webhooks/{webhookId}`. Needs a token with the ability `manage`.
        """
        return Request(
            "PATCH",
            ("tournaments", tournament_id, "webhooks", webhook_id),
            Webhook,
            in_data=True,
            body={"url": url, "name": name, "form": form, "events": events, "isActive": is_active},
            is_write=True,
            idempotency_key=idempotency_key,
        )
