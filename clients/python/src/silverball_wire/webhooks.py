"""Webhooks of a tournament and their deliveries. Our addition."""

from typing import Any, Literal

from msgspec import field

from silverball_wire.base import UNSET, Instant, UnsetType, Wire

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
    """Address that receives the messages."""
    form: WebhookForm
    # Names of feed events; empty means all of them.
    events: tuple[EventName, ...]
    is_active: bool
    stopped_reason: str | None
    """Why the service switched it off; null when it did not."""
    failing_since: Instant | None
    """Since when deliveries fail; null while they succeed."""
    waiting_count: int
    """Number of deliveries that wait for an attempt."""
    created_at: Instant
    updated_at: Instant
    secret: str | UnsetType | None = UNSET
    """Secret that signs the messages, only in the answer that creates it; null when that request is repeated.
    """


class WebhookDelivery(Wire, frozen=True, kw_only=True):
    """One message to a webhook and the state of its delivery."""

    webhook_delivery_id: int
    webhook_id: int
    message_id: str
    """The `webhook-id` header, the same in each attempt."""
    event: str
    """Name of the feed event; `test` for a test, `gap` for events that are no longer kept."""
    epoch: str | None
    """Numbering of the event; null for a message that is no event."""
    seq: int | None
    """Number of the event; null for a message that is no event."""
    status: DeliveryStatus
    """State of the delivery."""
    tries: int
    """Number of attempts so far."""
    due_at: Instant | None
    """Time of the next attempt; null when there will be none."""
    tried_at: Instant | None
    """Time of the last attempt; null before the first."""
    response_status: int | None
    """HTTP status of the last attempt; null without an answer."""
    reason: str | None
    """Why it was not delivered; null when it was, or is due."""
    created_at: Instant


class WebhookMessage(Wire, frozen=True, kw_only=True):
    """The body of a message of the form `events`. Source: standardwebhooks.com, Payload structure."""

    # Name of the feed event, or `test`.
    type: str
    # The time of the event.
    timestamp: Instant
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
