"""The delivery of announcements to webhooks, in threads of its own, while the program serves.

    announcement -> planned (one thread) -> claimed, sent, settled (a few threads)

No transaction is open during a request to another server. Slow and failing addresses have threads of
their own, so that they never delay the others. Every node does this; a message that a killed node had
claimed is claimed again a minute later.
"""

import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import cache, partial
from random import Random
from secrets import SystemRandom
from typing import Any

from msgspec import Struct, field

from silverball.jobs.workers import POLL_SECONDS, Workers
from silverball.kit.measures import WebhookMeasures
from silverball.service.webhooks import message_text, policy
from silverball.service.webhooks import reads as webhooks_reads
from silverball.service.webhooks import writes as webhooks_writes
from silverball.service.webhooks.writes import SendOutcome, WebhookToSend
from silverball.settings import Settings
from silverball.store.database.engine import Store

QUICK_THREADS = 2
SLOW_THREADS = 2
MEASURE_BACKLOG_SECONDS = 15.0
# Address, body, headers -> the status of the response. Raises WebhookUnreachable.
Send = Callable[[str, bytes, Mapping[str, str]], int]


class WebhookUnreachable(Exception):
    """An address without a response; the message is a sentence for the organizer."""


class WebhookDeliverer(Struct, frozen=True):
    """Plans and sends the webhook messages of one database."""

    store: Store
    settings: Settings
    # Called on the first message, because the HTTP client is slow to load.
    open_send: Callable[[], Send]
    now: Callable[[], datetime] = lambda: datetime.now(UTC)
    dice: Random = field(default_factory=SystemRandom)
    clock: Callable[[], float] = time.monotonic
    measures: WebhookMeasures = field(default_factory=WebhookMeasures)

    def plan_one(self) -> bool:
        """Plan the messages of one webhook from the announcements. Returns whether there was any work."""
        with self.store.read() as db:
            if not webhooks_reads.is_any_webhook_behind(db):
                return False
        with self.store.write(quiet=True) as transaction:
            return webhooks_writes.plan_next_webhook(
                transaction.connection, self.dice, self._current_second()
            )

    def send_one(self, *, slow: bool) -> bool:
        """Send the oldest message to a quick or a slow address. Returns whether there was any."""
        with self.store.read() as db:
            if not webhooks_reads.is_any_message_ready(db, self._current_second(), slow=slow):
                return False
        with self.store.write(quiet=True) as transaction:
            message = webhooks_writes.claim_next_message(
                transaction.connection, self._current_second(), slow=slow, base_url=self.settings.base_url
            )
        if message is None:
            return False
        outcome = self._post(message)
        if outcome.is_success:
            self.measures.delivered += 1
        else:
            self.measures.failed += 1
        with self.store.write(quiet=True) as transaction:
            webhooks_writes.settle_delivery(transaction.connection, message, outcome, self._current_second())
        return True

    def _post(self, message: WebhookToSend) -> SendOutcome:
        started = self.clock()
        headers = message_text.signed_headers(
            message.secret, message.message_id, message.body, self._current_second()
        )
        try:
            status = self.open_send()(message.url, message.body, headers)
        except WebhookUnreachable as error:
            return SendOutcome(self.clock() - started, reason=str(error))
        return SendOutcome(self.clock() - started, status)

    def _current_second(self) -> datetime:
        return self.now().replace(microsecond=0)

    def measure_backlog(self) -> bool:
        """Count the messages that wait. Returns False: there is nothing more to do at once."""
        with self.store.read() as db:
            self.measures.waiting, self.measures.oldest_seconds = webhooks_reads.backlog(
                db, self._current_second()
            )
        return False


def create_workers(deliverer: WebhookDeliverer, *, poll_seconds: float = POLL_SECONDS) -> Workers:
    """The threads: one plans, the others send to quick or to slow addresses."""
    quick, slow = (partial(deliverer.send_one, slow=slow) for slow in (False, True))
    duties: list[Callable[[], bool]] = [deliverer.plan_one, *[quick] * QUICK_THREADS, *[slow] * SLOW_THREADS]
    return Workers("webhooks", duties, poll_seconds=poll_seconds)


def delivery_workers(store: Store, settings: Settings, measures: WebhookMeasures) -> tuple[Workers, Workers]:
    """The threads, with the site's policy; and the one that counts what waits."""
    send = cache(lambda: guarded_send(settings))
    deliverer = WebhookDeliverer(store, settings, send, measures=measures)
    counting = Workers(
        "backlog of webhooks", [deliverer.measure_backlog], poll_seconds=MEASURE_BACKLOG_SECONDS
    )
    return create_workers(deliverer), counting


def guarded_send(settings: Settings, **options: Any) -> Send:
    """A function that sends within the site's policy; `options` go to the sender. Loads the client."""
    from silverball.exchange import outgoing
    from silverball.exchange.outgoing import NotSent, Sender

    site_policy, site_options = outgoing.guarded_network(
        policy.delivery_policy(settings), settings.egress_proxy
    )
    sender = Sender(site_policy, **{**site_options, **options})

    def send(url: str, body: bytes, headers: Mapping[str, str]) -> int:
        try:
            return sender.send(url, body, headers)
        except NotSent as error:
            raise WebhookUnreachable(error.sentence) from error

    return send
