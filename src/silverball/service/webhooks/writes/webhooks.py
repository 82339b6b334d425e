"""What an organizer does to webhooks."""

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
from silverball.store import announcements
from silverball.store.tables import webhook, webhook_delivery
from silverball.wire.webhooks import EventName, Webhook, WebhookForm

WEBHOOK, DELIVERY = "webhook_id", "webhook_delivery_id"
WEBHOOKS_MAX = reads.WEBHOOKS_MAX
SWITCHED_OFF = "The webhook was switched off."
_W, _D = webhook.c, webhook_delivery.c
Events = Annotated[tuple[EventName, ...], Meta(max_length=14)]
# What is wrong with it is said by the grammar of addresses.
Address = Annotated[str, Meta(min_length=1, max_length=2000)]
# An address that works, or is to be tried anew, has no past.
CLEAN_RECORD: dict[str, Any] = {
    "failures": 0,
    "failing_since": None,
    "rest_until": None,
    "is_slow": False,
    "stopped_reason": None,
}


class NewWebhook(Body, frozen=True, kw_only=True):
    """Where to tell what happens, and what of it."""

    url: Address
    name: Name = "Webhook"
    form: WebhookForm = "events"
    # None means all of them.
    events: Events = ()
    is_active: bool = True

    def __post_init__(self) -> None:
        _refuse_repeated_events(self.events)


class ChangedWebhook(Body, frozen=True, kw_only=True):
    """What is to be different about a webhook."""

    url: Address | UnsetType = UNSET
    name: Name | UnsetType = UNSET
    form: WebhookForm | UnsetType = UNSET
    events: Events | UnsetType = UNSET
    is_active: bool | UnsetType = UNSET

    def __post_init__(self) -> None:
        if self.events is not UNSET:
            _refuse_repeated_events(self.events)


def _refuse_repeated_events(events: Events) -> None:
    twice = [one for one in events if events.count(one) > 1]
    if twice:
        raise Invalid({"events": [f"{twice[0]} is named twice."]})


def create_webhook(call: Write[NewWebhook], dice: Random) -> tuple[int, str]:
    """A new webhook of the tournament in the path: its id, and the secret, which is shown this once."""
    tournament = commands.load_tournament(call)
    body = call.body
    url = policy.require_url(body.url, call.settings)
    count = select(func.count()).select_from(webhook).where(_W.tournament_id == tournament.tournament_id)
    if call.db.execute(count).scalar_one() >= WEBHOOKS_MAX:
        raise Conflict(f"A tournament can have {WEBHOOKS_MAX} webhooks. Delete one that is not needed first.")
    secret = signing.new_secret(dice)
    values = {
        "tournament_id": tournament.tournament_id,
        "name": body.name,
        "url": url,
        "form": body.form,
        "events": list(body.events),
        "secret": secret,
        "is_active": body.is_active,
        "tried_at": call.now,
        "created_at": call.now,
        "updated_at": call.now,
        **CLEAN_RECORD,
        **_starting_point(call.db, tournament),
    }
    made = call.db.execute(insert(webhook).values(**values).returning(_W.webhook_id)).scalar_one()
    return made, secret


def change_webhook(call: Write[ChangedWebhook]) -> int:
    """The webhook in the path, different now.

    Switched on it begins with what happens then; switched off, what waits has failed.
    """
    tournament = commands.load_tournament(call)
    was = reads.find_webhook(call.db, tournament.tournament_id, _lock_own_webhook(call))
    given = ownership.sent_values(call.body)
    if "url" in given:
        given["url"] = policy.require_url(given["url"], call.settings)
    if "events" in given:
        given["events"] = list(given["events"])
    is_active = given.get("is_active", was.is_active)
    is_begun = is_active and (not was.is_active or given.get("form", was.form) != was.form)
    if is_begun:
        given.update(_starting_point(call.db, tournament))
    if is_begun or given.get("url", was.url) != was.url:
        given.update(CLEAN_RECORD)
    if was.is_active and not is_active:
        fail_waiting(call.db, was.webhook_id, SWITCHED_OFF)
    own = update(webhook).where(_W.webhook_id == was.webhook_id)
    call.db.execute(own.values(updated_at=call.now, **given))
    return was.webhook_id


def delete_webhook(call: Write[Body]) -> Webhook:
    """The webhook in the path is gone, with its deliveries; returns it as it was."""
    was = reads.find_webhook(call.db, call.ids[TOURNAMENT], _lock_own_webhook(call))
    call.db.execute(delete(webhook).where(_W.webhook_id == was.webhook_id))
    return was


def replace_secret(call: Write[Body], dice: Random) -> tuple[int, str]:
    """Another secret: its webhook's id, and itself. From now on everything is signed with it."""
    webhook_id, secret = _lock_own_webhook(call), signing.new_secret(dice)
    own = update(webhook).where(_W.webhook_id == webhook_id)
    call.db.execute(own.values(secret=secret, updated_at=call.now))
    return webhook_id, secret


def send_test(call: Write[Body], dice: Random) -> tuple[int, int]:
    """A test is on its way: ids of the webhook and of the delivery."""
    webhook_id = _lock_own_webhook(call)
    _require_active(call, webhook_id)
    waits = select(_D.webhook_delivery_id).where(
        _D.webhook_id == webhook_id, _D.event == message.TEST, _D.status == "waiting"
    )
    if call.db.execute(waits.limit(1)).first() is not None:
        raise Conflict("A test is on its way already. Wait for what becomes of it.")
    values = {
        "webhook_id": webhook_id,
        "message_id": signing.new_message_id(dice),
        "event": message.TEST,
        "status": "waiting",
        "tries": 0,
        "due_at": call.now,
        "created_at": call.now,
    }
    made = insert(webhook_delivery).values(**values).returning(_D.webhook_delivery_id)
    return webhook_id, int(call.db.execute(made).scalar_one())


def retry_delivery(call: Write[Body]) -> tuple[int, int]:
    """A delivery is tried once more, at once, under its old id: ids of the webhook and of it.

    Raises Conflict for one that waits anyhow, and for one that cannot be said any more.
    """
    webhook_id = _lock_own_webhook(call)
    _require_active(call, webhook_id)
    found = reads.find_delivery(call.db, webhook_id, call.ids[DELIVERY])
    if found.status == "waiting":
        raise Conflict("This delivery waits for its turn already.")
    if not message.can_be_sent(call.db, call.ids[TOURNAMENT], found):
        raise Conflict("What this delivery was about is kept no longer. Read the tournament instead.")
    row = update(webhook_delivery).where(_D.webhook_delivery_id == found.webhook_delivery_id)
    call.db.execute(row.values(status="waiting", tries=0, due_at=call.now, reason=None))
    return webhook_id, found.webhook_delivery_id


def fail_waiting(db: Connection, webhook_id: int, reason: str) -> None:
    """Whatever waits has failed."""
    waiting = update(webhook_delivery).where(_D.webhook_id == webhook_id, _D.status == "waiting")
    db.execute(waiting.values(status="failed", due_at=None, reason=reason))


def _lock_own_webhook(call: Write[Any]) -> int:
    """The id of the webhook in the path, if the caller may change it. Raises NotFound and NotAllowed.

    It is locked before any of its deliveries: in the order in which whoever sends to it locks them.
    """
    tournament_id = commands.load_tournament(call).tournament_id
    own = select(_W.webhook_id).where(_W.tournament_id == tournament_id, _W.webhook_id == call.ids[WEBHOOK])
    webhook_id = call.db.execute(own.with_for_update()).scalar_one_or_none()
    if webhook_id is None:
        raise NotFound("Webhook", call.ids[WEBHOOK])
    return int(webhook_id)


def _require_active(call: Write[Any], webhook_id: int) -> None:
    """Raises Conflict; whoever asks by hand does not wait until the address has rested."""
    own = update(webhook).where(_W.webhook_id == webhook_id, _W.is_active)
    if call.db.execute(own.values(rest_until=None)).rowcount == 0:
        raise Conflict("This webhook is switched off. Switch it on first.")


def _starting_point(db: Connection, tournament: Tournament) -> dict[str, Any]:
    """What a webhook begins with: nothing that was announced before is for it."""
    head = announcements.channel_head(db, tournament.tournament_id)
    assert head is not None
    told = {
        "status": tournament.status,
        "motd": tournament.details["motd_text"],
        "round_id": max((one.round_id for one in tournament.rounds), default=0),
    }
    return {"epoch": head.epoch, "seq": head.seq, "told": told}
