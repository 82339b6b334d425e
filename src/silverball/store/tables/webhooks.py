"""Webhooks: where a tournament tells what happens, and what became of each delivery."""

from sqlalchemy import Column

from silverball.store.tables.base import flag, integer, json, key, reference, table, text
from silverball.store.types import Instant

webhook = table(
    "webhook",
    key("webhook_id"),
    reference("tournament_id", "tournament.tournament_id", cascade=True),
    text("name"),
    text("url"),
    # `events` or `text`.
    text("form"),
    # Names of feed events; none means all of them.
    json("events"),
    # As its owner got to see it once; what is sent is signed with it.
    text("secret"),
    flag("is_active"),
    # Why the service switched it off; null when it did not.
    text("stopped_reason", null=True),
    # The newest announcement that was looked at.
    text("epoch"),
    integer("seq"),
    # What a chat knows of the tournament already: `{"status", "motd", "round_id"}`.
    json("told"),
    # How often in a row it failed, since when, and until when it is left alone.
    integer("failures"),
    Column("failing_since", Instant),
    Column("rest_until", Instant),
    # Whether the last answer failed or was slow: such ones wait for each other, not for the others.
    flag("is_slow"),
    # Whoever sends to it has until then; who is killed meanwhile is noticed so.
    Column("busy_until", Instant),
    Column("tried_at", Instant, nullable=False),
    Column("created_at", Instant, nullable=False),
    Column("updated_at", Instant, nullable=False),
    indexes=[("tournament_id",)],
)

webhook_delivery = table(
    "webhook_delivery",
    key("webhook_delivery_id"),
    reference("webhook_id", "webhook.webhook_id", cascade=True),
    # The same for every try: who gets it twice knows it by this.
    text("message_id"),
    # Name of the feed event, or `test`, or `gap`.
    text("event"),
    # The announcement; null when it is none. Its payload is read when it is sent, and kept nowhere else.
    text("epoch", null=True),
    integer("seq", null=True),
    # What a sentence is about, and what it says in ids: `game 7`, `12,14`.
    text("about", null=True),
    text("said", null=True),
    text("status"),
    integer("tries"),
    Column("due_at", Instant),
    Column("tried_at", Instant),
    integer("response_status", null=True),
    text("reason", null=True),
    Column("created_at", Instant, nullable=False),
    indexes=[("webhook_id", "status", "due_at"), ("webhook_id", "about"), ("created_at",)],
)
