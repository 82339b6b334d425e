"""Webhooks of a tournament and their deliveries. Our addition."""

from msgspec import UNSET, UnsetType

from silverball_client.shapes.base import Shape


class Webhook(Shape, frozen=True, kw_only=True):
    """An address that receives a tournament's events."""

    webhook_id: int
    tournament_id: int
    name: str
    url: str
    form: str
    events: tuple[str, ...]
    is_active: bool
    stopped_reason: str | None
    failing_since: str | None
    waiting_count: int
    created_at: str
    updated_at: str
    secret: str | UnsetType | None = UNSET


class WebhookDelivery(Shape, frozen=True, kw_only=True):
    """One message to a webhook and the state of its delivery."""

    webhook_delivery_id: int
    webhook_id: int
    message_id: str
    event: str
    epoch: str | None
    seq: int | None
    status: str
    tries: int
    due_at: str | None
    tried_at: str | None
    response_status: int | None
    reason: str | None
    created_at: str
