"""Webhooks of a tournament over HTTP."""

from secrets import SystemRandom
from typing import Any

import msgspec

from silverball.kit.http.body import Body
from silverball.kit.http.endpoints import (
    TOURNAMENT,
    Access,
    Call,
    OneTimeResult,
    UncachedResult,
    delete,
    get,
    patch,
    post,
)
from silverball.kit.http.query import Query
from silverball.service.core import calls
from silverball.service.core.calls import Write
from silverball.service.webhooks import reads, writes
from silverball.service.webhooks.writes import WEBHOOK
from silverball_wire.pages import Data, Page
from silverball_wire.webhooks import Webhook, WebhookDelivery

LIST = "/api/tournaments/{tournament_id}/webhooks"
ITEM = LIST + "/{webhook_id}"
DELIVERIES = ITEM + "/deliveries"


# Deliveries change without a new revision of the tournament, so these answers are not cached.
@get(LIST, access=Access.OWN)
def list_webhooks(call: Call[Query]) -> UncachedResult[Data[tuple[Webhook, ...]]]:
    """The webhooks of the caller's tournament, oldest first."""
    with call.read() as db:
        reads.require_manager(db, call.ids[TOURNAMENT], call.caller)
        return UncachedResult(Data(data=reads.tournament_webhooks(db, call.ids[TOURNAMENT])))


@get(ITEM, access=Access.OWN)
def show_webhook(call: Call[Query]) -> UncachedResult[Data[Webhook]]:
    """A webhook, without its secret."""
    with call.read() as db:
        reads.require_manager(db, call.ids[TOURNAMENT], call.caller)
        return UncachedResult(Data(data=reads.find_webhook(db, call.ids[TOURNAMENT], call.ids[WEBHOOK])))


@post(LIST, body=writes.NewWebhook, ability="manage", status=201)
def add_webhook(call: Write[writes.NewWebhook]) -> OneTimeResult[Data[Webhook]]:
    """Create a webhook. The secret that signs its messages is shown only once."""
    return _secret_answer(call, *writes.create_webhook(call, SystemRandom()))


@patch(ITEM, body=writes.ChangedWebhook, ability="manage")
def change_webhook(call: Write[writes.ChangedWebhook]) -> Data[Webhook]:
    """Change a webhook's address, name, form or events, or switch it off or on."""
    return Data(data=reads.find_webhook(call.db, call.ids[TOURNAMENT], writes.change_webhook(call)))


@delete(ITEM, ability="manage")
def delete_webhook(call: Write[Body]) -> Data[Webhook]:
    """Delete a webhook and its deliveries, and return it as it was."""
    return Data(data=writes.delete_webhook(call))


@post(ITEM + "/secret", ability="manage")
def replace_webhook_secret(call: Write[Body]) -> OneTimeResult[Data[Webhook]]:
    """Replace a webhook's secret. The new secret is shown only once."""
    return _secret_answer(call, *writes.replace_secret(call, SystemRandom()))


@post(ITEM + "/test", ability="manage", status=201)
def send_webhook_test(call: Write[Body]) -> Data[WebhookDelivery]:
    """Send a test message; its delivery shows the outcome."""
    return Data(data=reads.find_delivery(call.db, *writes.send_test(call, SystemRandom())))


@get(DELIVERIES, query=reads.DeliveryQuery, access=Access.OWN)
def list_webhook_deliveries(
    call: Call[reads.DeliveryQuery],
) -> UncachedResult[Page[WebhookDelivery]]:
    """Deliveries of a webhook with their outcome, newest first."""
    with call.read() as db:
        reads.require_manager(db, call.ids[TOURNAMENT], call.caller)
        webhook = reads.find_webhook(db, call.ids[TOURNAMENT], call.ids[WEBHOOK])
        page = reads.deliveries_page(db, webhook.webhook_id, call.query)
    return UncachedResult(calls.full_page(call, page, per_page=reads.PER_PAGE))


@post(DELIVERIES + "/{webhook_delivery_id}/retry", ability="manage")
def retry_webhook_delivery(call: Write[Body]) -> Data[WebhookDelivery]:
    """Retry a delivery at once."""
    return Data(data=reads.find_delivery(call.db, *writes.retry_delivery(call)))


def _secret_answer(call: Write[Any], webhook_id: int, secret: str) -> OneTimeResult[Data[Webhook]]:
    webhook = reads.find_webhook(call.db, call.ids[TOURNAMENT], webhook_id)
    first, repeated = (msgspec.structs.replace(webhook, secret=value) for value in (secret, None))
    return OneTimeResult(Data(data=first), Data(data=repeated))
