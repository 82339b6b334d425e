"""Claim deliveries to send, and store their outcome."""

from datetime import datetime
from typing import Any

from msgspec import Struct
from sqlalchemy import Connection, select, update

from silverball.kit.values import WithSecret
from silverball.service.webhooks import pace
from silverball.service.webhooks.reads import due, message
from silverball.service.webhooks.writes import webhooks as writes
from silverball.store import encryption
from silverball.store.tables import webhook, webhook_delivery

WITHDRAWN = "The event of this delivery was withdrawn or is no longer stored."
KILLED = "The server was stopped during each try."
GONE_STATUS = 410
GONE = "The address answered that it is gone (status 410)."
GIVEN_UP = f"Nothing has arrived for {pace.GIVEN_UP_AFTER.days} days."
# Deliveries that are ended in one go while searching for one to send.
DELIVERIES_SCANNED_MAX = 50
_W, _D = webhook.c, webhook_delivery.c


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
    rows = due.webhooks_ready(now, slow=slow).with_for_update(of=webhook, skip_locked=True)
    hook = db.execute(rows).one_or_none()
    if hook is None:
        return None
    waiting = select(webhook_delivery).where(_D.webhook_id == hook.webhook_id, due.is_due(now))
    for delivery in db.execute(waiting.order_by(_D.webhook_delivery_id).limit(DELIVERIES_SCANNED_MAX)).all():
        body = message.message_body(db, hook, delivery, base_url)
        if body is None:
            _end_delivery(db, delivery, "withdrawn", WITHDRAWN)
        elif delivery.tries >= pace.TRIES_MAX:
            _end_delivery(db, delivery, "failed", KILLED)
        else:
            return _claim_delivery(db, hook, delivery, body, now)
    return None


def _claim_delivery(db: Connection, hook: Any, delivery: Any, body: bytes, now: datetime) -> WebhookToSend:
    """Claim the delivery's webhook for a while, and return its message."""
    tries = delivery.tries + 1
    own = update(webhook).where(_W.webhook_id == hook.webhook_id)
    db.execute(own.values(busy_until=now + pace.LOST_AFTER, tried_at=now))
    row = update(webhook_delivery).where(_D.webhook_delivery_id == delivery.webhook_delivery_id)
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
    hook = db.execute(select(webhook).where(_W.webhook_id == message_.webhook_id).with_for_update()).first()
    own = select(webhook_delivery).where(_D.webhook_delivery_id == message_.delivery_id)
    delivery = db.execute(own).first()
    if hook is None or delivery is None or delivery.tries != message_.tries:
        return
    if delivery.status == "waiting":
        _store_outcome(db, delivery, outcome, now)
    values = _healthy_values(outcome) if outcome.is_success else _failing_values(hook, outcome, now)
    row = update(webhook).where(_W.webhook_id == hook.webhook_id)
    db.execute(row.values(busy_until=None, **values))
    if values.get("is_active") is False:
        writes.fail_waiting(db, hook.webhook_id, values["stopped_reason"])


def _store_outcome(db: Connection, delivery: Any, outcome: SendOutcome, now: datetime) -> None:
    due_at = None if outcome.is_success else pace.next_try_at(delivery.tries, now)
    status = "delivered" if outcome.is_success else "failed" if due_at is None else "waiting"
    row = update(webhook_delivery).where(_D.webhook_delivery_id == delivery.webhook_delivery_id)
    values = {"status": status, "due_at": due_at, "response_status": outcome.status}
    db.execute(row.values(reason=outcome.failure_sentence, **values))


def _healthy_values(outcome: SendOutcome) -> dict[str, Any]:
    is_slow = outcome.seconds > pace.SLOW_SECONDS
    return {"failures": 0, "failing_since": None, "rest_until": None, "is_slow": is_slow}


def _failing_values(hook: Any, outcome: SendOutcome, now: datetime) -> dict[str, Any]:
    """The webhook's values after another failure: it is switched off once gone, or failing for days."""
    failing_since = hook.failing_since or now
    values = {
        "failures": hook.failures + 1,
        "failing_since": failing_since,
        "rest_until": pace.resting_until(hook.failures + 1, now),
        "is_slow": True,
    }
    if outcome.status == GONE_STATUS:
        return {**values, "is_active": False, "stopped_reason": GONE}
    if pace.is_given_up(failing_since, now):
        return {**values, "is_active": False, "stopped_reason": GIVEN_UP}
    return values


def _end_delivery(db: Connection, delivery: Any, status: str, reason: str) -> None:
    row = update(webhook_delivery).where(_D.webhook_delivery_id == delivery.webhook_delivery_id)
    db.execute(row.values(status=status, due_at=None, reason=reason))
