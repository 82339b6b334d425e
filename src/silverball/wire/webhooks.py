"""Webhooks of a tournament and their deliveries. Our addition."""

from typing import Any, Literal

from msgspec import field

from silverball.wire.base import UNSET, UnsetType, Wire

# `events`: messages in the form of Standard Webhooks; `text`: a sentence for chat services.
WebhookForm = Literal["events", "text"]
DeliveryStatus = Literal["waiting", "delivered", "failed", "withdrawn", "missed"]
EventName = Literal[
    "TournamentUpdated",
    "PlayersAdded",
    "PlayersChanged",
    "ArenasAdded",
    "ArenasChanged",
    "GamesDeleted",
    "SinglePlayerGamesDeleted",
    "CardsDeleted",
    "RoundsDeleted",
    "RoundCreatedOrUpdated",
    "GameCreatedOrUpdated",
    "SinglePlayerGameCreatedOrUpdated",
    "CardCreatedOrUpdated",
    "QueueChanged",
]


class Webhook(Wire, frozen=True, kw_only=True):
    """An address that receives a tournament's events."""

    webhook_id: int
    tournament_id: int
    name: str
    url: str
    form: WebhookForm
    # Names of feed events; empty means all of them.
    events: tuple[EventName, ...]
    is_active: bool
    # The reason why the service disabled it; null when it did not.
    stopped_reason: str | None
    # The time since which deliveries fail; null while they succeed.
    failing_since: str | None
    # The number of deliveries that wait for their first or next attempt.
    waiting_count: int
    created_at: str
    updated_at: str
    # The signing secret, present only in the answer that creates it; null when the request that
    # created it is repeated.
    secret: str | UnsetType | None = UNSET


class WebhookDelivery(Wire, frozen=True, kw_only=True):
    """One message to a webhook and the state of its delivery."""

    webhook_delivery_id: int
    webhook_id: int
    # The `webhook-id` header, the same in each attempt.
    message_id: str
    # Name of the feed event; `test` for a test, `gap` for events that are no longer available.
    event: str
    # The event's number; null for a message that is no event.
    epoch: str | None
    seq: int | None
    status: DeliveryStatus
    tries: int
    # The times of the next and the last attempt.
    due_at: str | None
    tried_at: str | None
    # The HTTP status of the last attempt; null without an answer.
    response_status: int | None
    # The reason why it was not delivered.
    reason: str | None
    created_at: str


class WebhookMessage(Wire, frozen=True, kw_only=True):
    """The body of a message of the form `events`. Source: standardwebhooks.com, Payload structure."""

    # Name of the feed event, or `test`.
    type: str
    # The time of the event.
    timestamp: str
    # The payload of the feed event.
    data: dict[str, Any]
    tournament_id: int
    # The event's number in the feed, which shows order and gaps; null for a test.
    epoch: str | None
    seq: int | None


class WebhookText(Wire, frozen=True, kw_only=True):
    """The body of a message of the form `text`; each chat service reads the field it knows."""

    text: str
    content: str
    # Prevents mentions, whatever the text contains. The chat service sets the field's name.
    allowed_mentions: dict[str, tuple[str, ...]] = field(name="allowed_mentions")
