"""Sent messages and published webhooks, member by member, as first published.

A difference is a change of the wire: it wants a line in the CHANGELOG before the sample is written
again.
"""

import json
import re
from pathlib import Path
from typing import Any

import build
from service.desk import a_desk
from service.webhooks.receiver import Outbox, a_webhook, deliveries
from silverball.store.database.engine import Store

GOLDEN = Path(__file__).parents[2] / "golden" / "webhooks.json"
EPOCH = "k3f9"
# An event's time is the time of the test, so it is replaced.
MOMENT = re.compile(r"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z")


def test_messages_and_webhooks_equal_their_samples(store: Store) -> None:
    assert published_shapes(store) == json.loads(GOLDEN.read_text(encoding="utf-8"))


def published_shapes(store: Store) -> dict[str, Any]:
    """A message of each kind with its headers, a webhook, and a delivery."""
    desk = a_desk(store)
    hook = a_webhook(desk, name="Score board", events=["RoundCreatedOrUpdated"])
    a_webhook(desk, name="Club chat", form="text", events=["RoundCreatedOrUpdated"])
    desk.open_round()
    post = Outbox(store)
    post.run()
    desk.ok("POST", "/webhooks/1/test")
    sent = [*post.sent, *post.run()]
    event, text, test = sent
    for message in (event, test):
        assert MOMENT.fullmatch(message.payload["timestamp"])
    delivery = deliveries(desk, 1)[0]
    # The part of the database differs from one to the other.
    assert event.payload["epoch"] == delivery["epoch"] == build.public_epoch(store, EPOCH)
    return {
        "headers": sorted(event.headers),
        "event": {**event.payload, "timestamp": "", "epoch": EPOCH},
        "test": {**test.payload, "timestamp": ""},
        "text": text.payload,
        "webhook": {**hook, "secret": hook["secret"][:6]},
        "delivery": {**delivery, "epoch": EPOCH},
    }
