"""Webhooks of a tournament and their deliveries. Ours: no other client knows them."""

from typing import Any, Literal

from msgspec import field

from silverball.wire.base import UNSET, UnsetType, Wire

# `events`: what happened, as Standard Webhooks want it; `text`: a sentence that chat services take.
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
    """Where a tournament tells what happens."""

    webhook_id: int
    tournament_id: int
    name: str
    url: str
    form: WebhookForm
    # Names of feed events; none means all of them.
    events: tuple[EventName, ...]
    is_active: bool
    # Why the service switched it off; null when it did not.
    stopped_reason: str | None
    # Since when nothing has arrived; null while all is well.
    failing_since: str | None
    # How many deliveries wait for their turn or another try.
    waiting_count: int
    created_at: str
    updated_at: str
    # What messages are signed with: there once, in the answer that made it. Null when the request that
    # made it is sent again.
    secret: str | UnsetType | None = UNSET


class WebhookDelivery(Wire, frozen=True, kw_only=True):
    """One message to a webhook, and what became of it."""

    webhook_delivery_id: int
    webhook_id: int
    # What `webhook-id` says, in every try.
    message_id: str
    # Name of the feed event; `test` for a test, `gap` for events that cannot be delivered any more.
    event: str
    # The event's own number; null for what is none.
    epoch: str | None
    seq: int | None
    status: DeliveryStatus
    tries: int
    # When it is tried next, and when it was tried last.
    due_at: str | None
    tried_at: str | None
    # The HTTP status that the last try was answered with; null when nobody answered.
    response_status: int | None
    # Why it was not delivered.
    reason: str | None
    created_at: str


class WebhookMessage(Wire, frozen=True, kw_only=True):
    """The body of a message of the form `events`. Source: standardwebhooks.com, Payload structure."""

    # Name of the feed event, or `test`.
    type: str
    # When it happened.
    timestamp: str
    # The payload of the feed event.
    data: dict[str, Any]
    tournament_id: int
    # The event's number in the feed: what is out of order or missing is seen by it. Null for a test.
    epoch: str | None
    seq: int | None


class WebhookText(Wire, frozen=True, kw_only=True):
    """The body of a message of the form `text`: each kind of chat service looks at what it knows."""

    text: str
    content: str
    # Nobody is called by a message, whatever is in it. The name is that of the chat service.
    allowed_mentions: dict[str, tuple[str, ...]] = field(name="allowed_mentions")
