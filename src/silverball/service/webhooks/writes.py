"""Create, change, delete and test webhooks."""

from datetime import datetime, timedelta
from random import Random
from typing import Annotated, Any

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType
from sqlalchemy import Connection, delete, insert, select, update

from silverball.kit.errors import Conflict, Invalid, NotFound
from silverball.kit.http.body import Body
from silverball.kit.http.endpoints import TOURNAMENT
from silverball.kit.http.fields import Name
from silverball.kit.values import WithSecret
from silverball.rules.model.tournament import Tournament
from silverball.service.core import access, commands
from silverball.service.core.calls import Write
from silverball.service.webhooks import message_text, policy, reads
from silverball.service.webhooks.message_text import ChatState
from silverball.store.counts import quotas
from silverball.store.database.slices import delete_slice
from silverball.store.people import encryption
from silverball.store.tables import webhook, webhook_delivery
from silverball.store.tournament import announcements
from silverball.store.tournament.announcements import Announcement
from silverball_wire.webhooks import EventName, Webhook, WebhookForm

WEBHOOK, DELIVERY = "webhook_id", "webhook_delivery_id"
WEBHOOKS_MAX = reads.WEBHOOKS_MAX
SWITCHED_OFF = "The webhook was switched off."
_WEBHOOK, _WEBHOOK_DELIVERY = webhook.c, webhook_delivery.c
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
    quotas.require_room(
        call.db,
        webhook,
        _WEBHOOK.tournament_id == tournament.tournament_id,
        owner=f"tournament {tournament.tournament_id}",
        limit=WEBHOOKS_MAX,
        refusal=lambda _: TooManyWebhooks(limit=WEBHOOKS_MAX),
    )
    organizer_id, limit = tournament.details["organizer_id"], call.settings.webhooks_per_account
    quotas.require_room_for_webhook(call.db, organizer_id, limit)
    secret = message_text.new_secret(dice)
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
    webhook_id = call.db.execute(insert(webhook).values(**values).returning(_WEBHOOK.webhook_id)).scalar_one()
    return webhook_id, secret


def change_webhook(call: Write[ChangedWebhook]) -> int:
    """Change the webhook in the path, and return its id.

    Switched on, it starts with the next event; switched off, its waiting deliveries fail.
    """
    tournament = commands.load_for_own_parts(call)
    before = reads.find_webhook(call.db, tournament.tournament_id, _lock_own_webhook(call))
    given = access.sent_values(call.body)
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
    own = update(webhook).where(_WEBHOOK.webhook_id == before.webhook_id)
    call.db.execute(own.values(updated_at=call.now, **given))
    return before.webhook_id


def delete_webhook(call: Write[Body]) -> Webhook:
    """Delete the webhook in the path with its deliveries, and return it as it was."""
    deleted = reads.find_webhook(call.db, call.ids[TOURNAMENT], _lock_own_webhook(call))
    call.db.execute(delete(webhook).where(_WEBHOOK.webhook_id == deleted.webhook_id))
    return deleted


def replace_secret(call: Write[Body], dice: Random) -> tuple[int, str]:
    """Replace the webhook's secret, and return the webhook's id and the new secret."""
    webhook_id, secret = _lock_own_webhook(call), message_text.new_secret(dice)
    own = update(webhook).where(_WEBHOOK.webhook_id == webhook_id)
    call.db.execute(own.values(secret=encryption.encrypt(call.db, secret), updated_at=call.now))
    return webhook_id, secret


def replace_lost_secrets(db: Connection, now: datetime, dice: Random) -> None:
    """Switch off the webhooks whose secret no key of this server reads; each gets a new secret."""
    lost = ~encryption.is_readable(db, _WEBHOOK.secret)
    for hook in db.execute(select(_WEBHOOK.webhook_id, _WEBHOOK.is_active).where(lost)).all():
        values = {"is_active": False, "stopped_reason": KEY_LOST} if hook.is_active else {}
        secret = encryption.encrypt(db, message_text.new_secret(dice))
        own = update(webhook).where(_WEBHOOK.webhook_id == hook.webhook_id)
        db.execute(own.values(secret=secret, updated_at=now, **values))
        fail_waiting(db, hook.webhook_id, KEY_LOST)


def send_test(call: Write[Body], dice: Random) -> tuple[int, int]:
    """Queue a test message, and return the ids of the webhook and the delivery."""
    webhook_id = _lock_own_webhook(call)
    _require_active(call, webhook_id)
    waiting_test = select(_WEBHOOK_DELIVERY.webhook_delivery_id).where(
        _WEBHOOK_DELIVERY.webhook_id == webhook_id,
        _WEBHOOK_DELIVERY.event == reads.TEST,
        _WEBHOOK_DELIVERY.status == "waiting",
    )
    if call.db.execute(waiting_test.limit(1)).first() is not None:
        raise WebhookTestPending
    values = {
        "webhook_id": webhook_id,
        "message_id": message_text.new_message_id(dice),
        "event": reads.TEST,
        "status": "waiting",
        "tries": 0,
        "due_at": call.now,
        "created_at": call.now,
    }
    inserted = insert(webhook_delivery).values(**values).returning(_WEBHOOK_DELIVERY.webhook_delivery_id)
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
    if not reads.can_be_sent(call.db, call.ids[TOURNAMENT], delivery):
        raise DeliveredEventNotStored
    row = update(webhook_delivery).where(
        _WEBHOOK_DELIVERY.webhook_delivery_id == delivery.webhook_delivery_id
    )
    call.db.execute(row.values(status="waiting", tries=0, due_at=call.now, reason=None))
    return webhook_id, delivery.webhook_delivery_id


def fail_waiting(db: Connection, webhook_id: int, reason: str) -> None:
    """Mark the waiting deliveries as failed."""
    waiting = update(webhook_delivery).where(
        _WEBHOOK_DELIVERY.webhook_id == webhook_id, _WEBHOOK_DELIVERY.status == "waiting"
    )
    db.execute(waiting.values(status="failed", due_at=None, reason=reason))


def _lock_own_webhook(call: Write[Any]) -> int:
    """Lock the webhook in the path for its manager, and return its id. Raises NotFound and NotAllowed.

    The webhook is locked before its deliveries, in the same order as while sending.
    """
    tournament_id = commands.load_for_own_parts(call).tournament_id
    own = select(_WEBHOOK.webhook_id).where(
        _WEBHOOK.tournament_id == tournament_id, _WEBHOOK.webhook_id == call.ids[WEBHOOK]
    )
    webhook_id = call.db.execute(own.with_for_update()).scalar_one_or_none()
    if webhook_id is None:
        raise NotFound("Webhook", call.ids[WEBHOOK])
    return int(webhook_id)


def _require_active(call: Write[Any], webhook_id: int) -> None:
    """Raise Conflict unless the webhook is active; end its rest, because a person is asking."""
    own = update(webhook).where(_WEBHOOK.webhook_id == webhook_id, _WEBHOOK.is_active)
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


WITHDRAWN = "The event of this delivery was withdrawn or is no longer stored."
KILLED = "The server was stopped during each try."
GONE_STATUS = 410
GONE = "The address answered that it is gone (status 410)."
KEY_LOST = "The key for its secret was lost. Make a new secret, then switch it on."
GIVEN_UP = f"Nothing has arrived for {policy.GIVEN_UP_AFTER.days} days."
# Deliveries that are ended in one go while searching for one to send.
DELIVERIES_SCANNED_MAX = 50


class WebhookToSend(WithSecret, frozen=True):
    """A message to send."""

    webhook_id: int
    delivery_id: int
    # The number of this try. The outcome of an outdated try is ignored.
    tries: int
    url: str
    secret: str
    message_id: str
    body: bytes


class SendOutcome(Struct, frozen=True):
    """The outcome of a try: the status of the answer, or the reason why there was none."""

    seconds: float
    status: int | None = None
    reason: str | None = None

    @property
    def is_success(self) -> bool:
        return self.status is not None and 200 <= self.status < 300

    @property
    def failure_sentence(self) -> str | None:
        """The reason why the message was not delivered; None on success."""
        if self.is_success or self.status is None:
            return self.reason
        if 300 <= self.status < 400:
            return f"The address redirects (status {self.status}), and redirects are not followed."
        return f"The address answered with status {self.status}."


def claim_next_message(db: Connection, now: datetime, *, slow: bool, base_url: str) -> WebhookToSend | None:
    """Claim the next message to send; None when there is none.

    Deliveries that can no longer be sent are ended along the way.
    """
    rows = reads.webhooks_ready(db, now, slow=slow).with_for_update(of=webhook, skip_locked=True)
    hook = db.execute(rows).one_or_none()
    if hook is None:
        return None
    waiting = select(webhook_delivery).where(
        _WEBHOOK_DELIVERY.webhook_id == hook.webhook_id, reads.is_due(now)
    )
    for delivery in db.execute(
        waiting.order_by(_WEBHOOK_DELIVERY.webhook_delivery_id).limit(DELIVERIES_SCANNED_MAX)
    ).all():
        body = reads.message_body(db, hook, delivery, base_url)
        if body is None:
            _end_delivery(db, delivery, "withdrawn", WITHDRAWN)
        elif delivery.tries >= policy.TRIES_MAX:
            _end_delivery(db, delivery, "failed", KILLED)
        else:
            return _claim_delivery(db, hook, delivery, body, now)
    return None


def _claim_delivery(db: Connection, hook: Any, delivery: Any, body: bytes, now: datetime) -> WebhookToSend:
    """Claim the delivery's webhook for a while, and return its message."""
    tries = delivery.tries + 1
    own = update(webhook).where(_WEBHOOK.webhook_id == hook.webhook_id)
    db.execute(own.values(busy_until=now + policy.LOST_AFTER, tried_at=now))
    row = update(webhook_delivery).where(
        _WEBHOOK_DELIVERY.webhook_delivery_id == delivery.webhook_delivery_id
    )
    db.execute(row.values(tries=tries, tried_at=now, response_status=None))
    return WebhookToSend(
        webhook_id=hook.webhook_id,
        delivery_id=delivery.webhook_delivery_id,
        tries=tries,
        url=hook.url,
        secret=encryption.decrypt(db, hook.secret),
        message_id=delivery.message_id,
        body=body,
    )


def settle_delivery(db: Connection, message_: WebhookToSend, outcome: SendOutcome, now: datetime) -> None:
    """Store the outcome of a try, and free the webhook."""
    hook = db.execute(
        select(webhook).where(_WEBHOOK.webhook_id == message_.webhook_id).with_for_update()
    ).first()
    own = select(webhook_delivery).where(_WEBHOOK_DELIVERY.webhook_delivery_id == message_.delivery_id)
    delivery = db.execute(own).first()
    if hook is None or delivery is None or delivery.tries != message_.tries:
        return
    if delivery.status == "waiting":
        _store_outcome(db, delivery, outcome, now)
    values = _healthy_values(outcome) if outcome.is_success else _failing_values(hook, outcome, now)
    row = update(webhook).where(_WEBHOOK.webhook_id == hook.webhook_id)
    db.execute(row.values(busy_until=None, **values))
    if values.get("is_active") is False:
        fail_waiting(db, hook.webhook_id, values["stopped_reason"])


def _store_outcome(db: Connection, delivery: Any, outcome: SendOutcome, now: datetime) -> None:
    due_at = None if outcome.is_success else policy.next_try_at(delivery.tries, now)
    status = "delivered" if outcome.is_success else "failed" if due_at is None else "waiting"
    row = update(webhook_delivery).where(
        _WEBHOOK_DELIVERY.webhook_delivery_id == delivery.webhook_delivery_id
    )
    values = {"status": status, "due_at": due_at, "response_status": outcome.status}
    db.execute(row.values(reason=outcome.failure_sentence, **values))


def _healthy_values(outcome: SendOutcome) -> dict[str, Any]:
    is_slow = outcome.seconds > policy.SLOW_SECONDS
    return {"failures": 0, "failing_since": None, "rest_until": None, "is_slow": is_slow}


def _failing_values(hook: Any, outcome: SendOutcome, now: datetime) -> dict[str, Any]:
    """The webhook's values after another failure: it is switched off once gone, or failing for days."""
    failing_since = hook.failing_since or now
    values = {
        "failures": hook.failures + 1,
        "failing_since": failing_since,
        "rest_until": policy.resting_until(hook.failures + 1, now),
        "is_slow": True,
    }
    if outcome.status == GONE_STATUS:
        return {**values, "is_active": False, "stopped_reason": GONE}
    if policy.is_given_up(failing_since, now):
        return {**values, "is_active": False, "stopped_reason": GIVEN_UP}
    return values


def _end_delivery(db: Connection, delivery: Any, status: str, reason: str) -> None:
    row = update(webhook_delivery).where(
        _WEBHOOK_DELIVERY.webhook_delivery_id == delivery.webhook_delivery_id
    )
    db.execute(row.values(status=status, due_at=None, reason=reason))


# Plan deliveries from announcements, in the order of the announcements.


# Announcements planned for one webhook in one transaction.
ANNOUNCEMENTS_AT_ONCE = 200
GAP = "gap"
WITHDRAWN_TEXT = "Earlier events were withdrawn, because the channel started again."

DeliveryRow = dict[str, Any]


def plan_next_webhook(db: Connection, dice: Random, now: datetime) -> bool:
    """Plan the next webhook that is behind. Returns whether there was one."""
    hook = db.execute(reads.webhooks_behind().with_for_update(of=webhook, skip_locked=True)).one_or_none()
    if hook is None:
        return False
    planned: list[DeliveryRow] = []
    seq = hook.seq
    if hook.epoch != hook.own_epoch:
        _withdraw_waiting(db, hook.webhook_id)
        planned.append(_gap_row(hook, WITHDRAWN_TEXT))
        seq = 0
    if seq < hook.own_low:
        planned.append(_gap_row(hook, _trimmed_sentence(seq + 1, hook.own_low)))
        seq = hook.own_low
    announcements_found = announcements.load_since(
        db, hook.tournament_id, hook.own_epoch, seq, ANNOUNCEMENTS_AT_ONCE
    )
    state = ChatState(**hook.told)
    sent: dict[str, str] = {}
    for announcement in announcements_found:
        deliveries, state = _plan_announcement(db, hook, announcement, state, sent)
        planned += deliveries
    common = {"webhook_id": hook.webhook_id, "created_at": now}
    rows = [
        {**_BLANK_ROW, **delivery, **common, "message_id": message_text.new_message_id(dice)}
        for delivery in planned
    ]
    if rows:
        due_at = [now if delivery["status"] == "waiting" else None for delivery in rows]
        db.execute(
            insert(webhook_delivery),
            [{**delivery, "due_at": at} for delivery, at in zip(rows, due_at, strict=True)],
        )
    newest = announcements_found[-1].seq if announcements_found else seq
    own = update(webhook).where(_WEBHOOK.webhook_id == hook.webhook_id)
    db.execute(own.values(epoch=hook.own_epoch, seq=newest, told=msgspec.structs.asdict(state)))
    return True


_BLANK_ROW: DeliveryRow = {
    "epoch": None,
    "seq": None,
    "about": None,
    "said": None,
    "tries": 0,
    "reason": None,
}


def _plan_announcement(
    db: Connection, hook: Any, announcement: Announcement, state: ChatState, sent: dict[str, str]
) -> tuple[list[DeliveryRow], ChatState]:
    """The delivery of an announcement, if this webhook wants it, and the chat's new state."""
    row = {
        "event": announcement.name,
        "epoch": announcement.epoch,
        "seq": announcement.seq,
        "status": "waiting",
    }
    is_wanted = not hook.events or announcement.name in hook.events
    if hook.form == "events":
        return ([row] if is_wanted else []), state
    if announcement.name not in message_text.TOLD_EVENTS:
        return [], state
    news, state = message_text.find_news(announcement.name, msgspec.json.decode(announcement.data), state)
    if news is None or not is_wanted or _was_sent_before(db, hook.webhook_id, news, sent):
        return [], state
    sent[news.subject] = news.content
    return [{**row, "about": news.subject, "said": news.content}], state


def _was_sent_before(
    db: Connection, webhook_id: int, news: message_text.NewsItem, sent: dict[str, str]
) -> bool:
    """Whether the last delivery about this game had the same result. All other news is always new."""
    if not news.subject.startswith("game "):
        return False
    if news.subject in sent:
        return sent[news.subject] == news.content
    rows = select(_WEBHOOK_DELIVERY.said).where(
        _WEBHOOK_DELIVERY.webhook_id == webhook_id, _WEBHOOK_DELIVERY.about == news.subject
    )
    last = db.execute(
        rows.order_by(_WEBHOOK_DELIVERY.webhook_delivery_id.desc()).limit(1)
    ).scalar_one_or_none()
    return last == news.content


def _gap_row(hook: Any, reason: str) -> DeliveryRow:
    return {"event": GAP, "epoch": hook.own_epoch, "status": "missed", "reason": reason}


def _trimmed_sentence(first: int, last: int) -> str:
    return f"The events {first} to {last} are no longer stored. Read the tournament instead."


def _withdraw_waiting(db: Connection, webhook_id: int) -> None:
    """Withdraw the waiting deliveries of announcements; a test stays."""
    waiting = (
        _WEBHOOK_DELIVERY.webhook_id == webhook_id,
        _WEBHOOK_DELIVERY.status == "waiting",
        _WEBHOOK_DELIVERY.seq.is_not(None),
    )
    rows = update(webhook_delivery).where(*waiting)
    db.execute(rows.values(status="withdrawn", due_at=None, reason=WITHDRAWN_TEXT))


# Longer than the retries of any message last.
RETENTION = timedelta(days=7)


def prune_slice(db: Connection, now: datetime) -> int:
    """Delete some of the deliveries that ended more than a week ago, and return how many."""
    return delete_slice(
        db,
        webhook_delivery,
        _WEBHOOK_DELIVERY.created_at <= now - RETENTION,
        _WEBHOOK_DELIVERY.status != "waiting",
    )
