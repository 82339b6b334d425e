"""Sends what is announced to webhooks, in threads of its own, for as long as the program serves.

    announcement -> planned (one thread) -> taken, sent, settled (a few threads)

No transaction is open while somebody else's server is waited for. Addresses that fail or are slow have
threads of their own, so that they wait for each other and never for those that answer. Every node does
this; whoever is killed in between leaves a message that somebody takes up again a minute later.
"""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache, partial
from random import Random
from secrets import SystemRandom
from typing import Any

from silverball.jobs.workers import POLL_SECONDS, Workers
from silverball.service.webhooks import policy, signing
from silverball.service.webhooks.reads import due
from silverball.service.webhooks.writes import planning, sending
from silverball.service.webhooks.writes.sending import SendOutcome, WebhookToSend
from silverball.settings import Settings
from silverball.store.engine import Store

QUICK_THREADS = 2
SLOW_THREADS = 2
# Address, body, headers -> the status that was answered. Raises Unreachable.
Send = Callable[[str, bytes, Mapping[str, str]], int]


class WebhookUnreachable(Exception):
    """Nobody answered at an address; the message is a sentence for who entered it."""


@dataclass(frozen=True)
class WebhookDeliverer:
    """The webhooks of one database, served with one function."""

    store: Store
    settings: Settings
    # Made when it is first needed: what sends takes its time to load.
    open_send: Callable[[], Send]
    now: Callable[[], datetime] = lambda: datetime.now(UTC)
    dice: Random = field(default_factory=SystemRandom)
    clock: Callable[[], float] = time.monotonic

    def plan_one(self) -> bool:
        """Let one webhook look at what was announced. Returns whether there was anything."""
        with self.store.read() as db:
            if not due.is_any_webhook_behind(db):
                return False
        with self.store.write(quiet=True) as transaction:
            return planning.plan_next_webhook(transaction.connection, self.dice, self._current_second())

    def send_one(self, *, slow: bool) -> bool:
        """Send what waits longest, to quick addresses or to slow ones. Returns whether there was anything."""
        with self.store.read() as db:
            if not due.is_any_message_ready(db, self._current_second(), slow=slow):
                return False
        with self.store.write(quiet=True) as transaction:
            errand = sending.claim_next_message(
                transaction.connection, self._current_second(), slow=slow, base_url=self.settings.base_url
            )
        if errand is None:
            return False
        outcome = self._post(errand)
        with self.store.write(quiet=True) as transaction:
            sending.settle_delivery(transaction.connection, errand, outcome, self._current_second())
        return True

    def _post(self, errand: WebhookToSend) -> SendOutcome:
        began = self.clock()
        headers = signing.signed_headers(
            errand.secret, errand.message_id, errand.body, self._current_second()
        )
        try:
            status = self.open_send()(errand.url, errand.body, headers)
        except WebhookUnreachable as error:
            return SendOutcome(self.clock() - began, reason=str(error))
        return SendOutcome(self.clock() - began, status)

    def _current_second(self) -> datetime:
        return self.now().replace(microsecond=0)


def create_workers(rounds: WebhookDeliverer, *, poll_seconds: float = POLL_SECONDS) -> Workers:
    """The threads: one plans, the others send to quick addresses or to slow ones."""
    quick, slow = (partial(rounds.send_one, slow=slow) for slow in (False, True))
    duties: list[Callable[[], bool]] = [rounds.plan_one, *[quick] * QUICK_THREADS, *[slow] * SLOW_THREADS]
    return Workers("webhooks", duties, poll_seconds=poll_seconds)


def delivery_workers(store: Store, settings: Settings) -> Workers:
    """The threads with the site's policy."""
    return create_workers(WebhookDeliverer(store, settings, cache(lambda: guarded_send(settings))))


def guarded_send(settings: Settings, **how: Any) -> Send:
    """Sends within the site's policy; `how` is said to the sender. Loads the client."""
    from silverball.exchange.outgoing import network
    from silverball.exchange.outgoing.send import NotSent, Sender

    allowed, way = network.guarded_network(policy.delivery_policy(settings), settings.egress_proxy)
    sender = Sender(allowed, **{**way, **how})

    def send(url: str, body: bytes, headers: Mapping[str, str]) -> int:
        try:
            return sender.send(url, body, headers)
        except NotSent as error:
            raise WebhookUnreachable(error.sentence) from error

    return send
