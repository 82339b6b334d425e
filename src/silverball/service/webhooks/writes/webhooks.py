"""Create, change, delete and test webhooks."""

from random import Random
from typing import Annotated, Any

from msgspec import UNSET, Meta, UnsetType
from sqlalchemy import Connection, delete, func, insert, select, update

from silverball.kit.errors import Conflict, Invalid, NotFound
from silverball.kit.http.body import Body
from silverball.kit.http.endpoints import TOURNAMENT
from silverball.kit.http.fields import Name
from silverball.rules.model.tournament import Tournament
from silverball.service import ownership
from silverball.service.calls import Write
from silverball.service.core import commands
from silverball.service.webhooks import policy, signing
from silverball.service.webhooks.reads import message
from silverball.service.webhooks.reads import webhooks as reads
from silverball.store import account_quotas, announcements, encryption
from silverball.store.tables import webhook, webhook_delivery
from silverball_wire.webhooks import EventName, Webhook, WebhookForm

WEBHOOK, DELIVERY = "webhook_id", "webhook_delivery_id"
WEBHOOKS_MAX = reads.WEBHOOKS_MAX
SWITCHED_OFF = "The webhook was switched off."
_W, _D = webhook.c, webhook_delivery.c
Events = Annotated[tuple[EventName, ...], Meta(max_length=14)]
# The parser of addresses reports all other faults.
Address = Annotated[str, Meta(min_length=1, max_length=2000)]
# The values of an address that works or has not been tried.
CLEAN_RECORD: dict[str, Any] = {
    "failures": 0,
    "failing_since": None,
    "rest_until": None,
    "is_slow": False,
    "stopped_reason": None,
}


class TooManyWebhooks(Conflict):
    sentence = "A tournament can have {limit} webhooks. Delete one that is not needed first."


class WebhookTestPending(Conflict):
    sentence = "A test is already waiting to be sent. Wait for its outcome."


class DeliveryAlreadyWaiting(Conflict):
    sentence = "This delivery is already waiting to be sent."


class DeliveredEventNotStored(Conflict):
    sentence = "The event of this delivery is no longer stored. Read the tournament instead."


class WebhookSwitchedOff(Conflict):
    sentence = "This webhook is switched off. Switch it on first."


class NewWebhook(Body, frozen=True, kw_only=True):
    """A new webhook: its address and its events."""

    url: Address
    """Address that receives the messages."""
    name: Name = "Webhook"
    """Name by which the webhook is listed."""
    form: WebhookForm = "events"
    # Empty for all events.
    events: Events = ()
    is_active: bool = True

    def __post_init__(self) -> None:
        _refuse_repeated_events(self.events)


class ChangedWebhook(Body, frozen=True, kw_only=True):
    """The changed fields of a webhook."""

    url: Address | UnsetType = UNSET
    """Address that receives the messages."""
    name: Name | UnsetType = UNSET
    form: WebhookForm | UnsetType = UNSET
    events: Events | UnsetType = UNSET
    is_active: bool | UnsetType = UNSET

    def __post_init__(self) -> None:
        if self.events is not UNSET:
            _refuse_repeated_events(self.events)


def _refuse_repeated_events(events: Events) -> None:
    twice = [name for name in events if events.count(name) > 1]
    if twice:
        raise Invalid({"events": [f"{twice[0]} is named twice."]})


def create_webhook(call: Write[NewWebhook], dice: Random) -> tuple[int, str]:
    """Create a webhook of the tournament in the path, and return its id and secret."""
    tournament = commands.load_for_own_parts(call)
    body = call.body
    url = policy.require_url(body.url, call.settings)
    count = select(func.count()).select_from(webhook).where(_W.tournament_id == tournament.tournament_id)
    if call.db.execute(count).scalar_one() >= WEBHOOKS_MAX:
        raise TooManyWebhooks(limit=WEBHOOKS_MAX)
    organizer_id, limit = tournament.details["organizer_id"], call.settings.webhooks_per_account
    account_quotas.require_room_for_webhook(call.db, organizer_id, limit)
    secret = signing.new_secret(dice)
    values = {
        "tournament_id": tournament.tournament_id,
        "name": body.name,
        "url": url,
        "form": body.form,
        "events": list(body.events),
        "secret": encryption.encrypt(call.db, secret),
        "is_active": body.is_active,
        "tried_at": call.now,
        "created_at": call.now,
        "updated_at": call.now,
        **CLEAN_RECORD,
        **_starting_point(call.db, tournament),
    }
    webhook_id = call.db.execute(insert(webhook).values(**values).returning(_W.webhook_id)).scalar_one()
    return webhook_id, secret


def change_webhook(call: Write[ChangedWebhook]) -> int:
    """Change the webhook in the path, and return its id.

    Switched on, it starts with the next event; switched off, its waiting deliveries fail.
    """
    tournament = commands.load_for_own_parts(call)
    before = reads.find_webhook(call.db, tournament.tournament_id, _lock_own_webhook(call))
    given = ownership.sent_values(call.body)
    if "url" in given:
        given["url"] = policy.require_url(given["url"], call.settings)
    if "events" in given:
        given["events"] = list(given["events"])
    is_active = given.get("is_active", before.is_active)
    is_restarted = is_active and (not before.is_active or given.get("form", before.form) != before.form)
    if is_restarted:
        given.update(_starting_point(call.db, tournament))
    if is_restarted or given.get("url", before.url) != before.url:
        given.update(CLEAN_RECORD)
    if before.is_active and not is_active:
        fail_waiting(call.db, before.webhook_id, SWITCHED_OFF)
    own = update(webhook).where(_W.webhook_id == before.webhook_id)
    call.db.execute(own.values(updated_at=call.now, **given))
    return before.webhook_id


def delete_webhook(call: Write[Body]) -> Webhook:
    """Delete the webhook in the path with its deliveries, and return it as it was."""
    deleted = reads.find_webhook(call.db, call.ids[TOURNAMENT], _lock_own_webhook(call))
    call.db.execute(delete(webhook).where(_W.webhook_id == deleted.webhook_id))
    return deleted


def replace_secret(call: Write[Body], dice: Random) -> tuple[int, str]:
    """Replace the webhook's secret, and return the webhook's id and the new secret."""
    webhook_id, secret = _lock_own_webhook(call), signing.new_secret(dice)
    own = update(webhook).where(_W.webhook_id == webhook_id)
    call.db.execute(own.values(secret=encryption.encrypt(call.db, secret), updated_at=call.now))
    return webhook_id, secret


def send_test(call: Write[Body], dice: Random) -> tuple[int, int]:
    """Queue a test message, and return the ids of the webhook and the delivery."""
    webhook_id = _lock_own_webhook(call)
    _require_active(call, webhook_id)
    waiting_test = select(_D.webhook_delivery_id).where(
        _D.webhook_id == webhook_id, _D.event == message.TEST, _D.status == "waiting"
    )
    if call.db.execute(waiting_test.limit(1)).first() is not None:
        raise WebhookTestPending
    values = {
        "webhook_id": webhook_id,
        "message_id": signing.new_message_id(dice),
        "event": message.TEST,
        "status": "waiting",
        "tries": 0,
        "due_at": call.now,
        "created_at": call.now,
    }
    inserted = insert(webhook_delivery).values(**values).returning(_D.webhook_delivery_id)
    return webhook_id, int(call.db.execute(inserted).scalar_one())


def retry_delivery(call: Write[Body]) -> tuple[int, int]:
    """Retry a delivery at once under its old id, and return the ids of the webhook and the delivery.

    Raises Conflict for a waiting delivery, and for one whose event is no longer stored.
    """
    webhook_id = _lock_own_webhook(call)
    _require_active(call, webhook_id)
    delivery = reads.find_delivery(call.db, webhook_id, call.ids[DELIVERY])
    if delivery.status == "waiting":
        raise DeliveryAlreadyWaiting
    if not message.can_be_sent(call.db, call.ids[TOURNAMENT], delivery):
        raise DeliveredEventNotStored
    row = update(webhook_delivery).where(_D.webhook_delivery_id == delivery.webhook_delivery_id)
    call.db.execute(row.values(status="waiting", tries=0, due_at=call.now, reason=None))
    return webhook_id, delivery.webhook_delivery_id


def fail_waiting(db: Connection, webhook_id: int, reason: str) -> None:
    """Mark the waiting deliveries as failed."""
    waiting = update(webhook_delivery).where(_D.webhook_id == webhook_id, _D.status == "waiting")
    db.execute(waiting.values(status="failed", due_at=None, reason=reason))


def _lock_own_webhook(call: Write[Any]) -> int:
    """Lock the webhook in the path for its manager, and return its id. Raises NotFound and NotAllowed.

    The webhook is locked before its deliveries, in the same order as while sending.
    """
    tournament_id = commands.load_for_own_parts(call).tournament_id
    own = select(_W.webhook_id).where(_W.tournament_id == tournament_id, _W.webhook_id == call.ids[WEBHOOK])
    webhook_id = call.db.execute(own.with_for_update()).scalar_one_or_none()
    if webhook_id is None:
        raise NotFound("Webhook", call.ids[WEBHOOK])
    return int(webhook_id)


def _require_active(call: Write[Any], webhook_id: int) -> None:
    """Raise Conflict unless the webhook is active; end its rest, because a person is asking."""
    own = update(webhook).where(_W.webhook_id == webhook_id, _W.is_active)
    if call.db.execute(own.values(rest_until=None)).rowcount == 0:
        raise WebhookSwitchedOff


def _starting_point(db: Connection, tournament: Tournament) -> dict[str, Any]:
    """The state of a webhook that starts with the next event."""
    head = announcements.channel_head(db, tournament.tournament_id)
    assert head is not None
    state = {
        "status": tournament.status,
        "motd": tournament.details["motd_text"],
        "round_id": max((round_.round_id for round_ in tournament.rounds), default=0),
    }
    return {"epoch": head.epoch, "seq": head.seq, "told": state}
