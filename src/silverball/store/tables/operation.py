"""Webhooks of tournaments, and their deliveries."""

from sqlalchemy import Column, Text

from silverball.store.tables.base import Real, flag, integer, json, key, reference, table, text
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
    # Shown to its owner once; signs every delivery. Encrypted.
    text("secret"),
    flag("is_active"),
    # Why the service switched it off; null when it did not.
    text("stopped_reason", null=True),
    # The newest announcement that was processed.
    text("epoch"),
    integer("seq"),
    # State of the tournament that a chat knows already: `{"status", "motd", "round_id"}`.
    json("told"),
    # Number of failures in a row, the time of the first, and the end of the pause.
    integer("failures"),
    Column("failing_since", Instant),
    Column("rest_until", Instant),
    # Whether the last answer failed or was slow: slow webhooks wait for each other, not for the others.
    flag("is_slow"),
    # End of the sender's lease: a killed sender is noticed by it.
    Column("busy_until", Instant),
    Column("tried_at", Instant, nullable=False),
    Column("created_at", Instant, nullable=False),
    Column("updated_at", Instant, nullable=False),
    indexes=[("tournament_id",)],
    audiences={
        "organizer": "webhook_id tournament_id name url form events is_active stopped_reason epoch seq"
        " told failures failing_since rest_until is_slow busy_until tried_at created_at"
        " updated_at",
        "secret": "secret",
    },
)

webhook_delivery = table(
    "webhook_delivery",
    key("webhook_delivery_id"),
    reference("webhook_id", "webhook.webhook_id", cascade=True),
    # The same for every attempt, so that the receiver can tell a repeat.
    text("message_id"),
    # Name of the feed event, or `test`, or `gap`.
    text("event"),
    # The number of the announcement, if it is one. Its payload is read when it is sent.
    text("epoch", null=True),
    integer("seq", null=True),
    # The subject of a sentence, and the ids in it: `game 7`, `12,14`.
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
    audiences={
        "organizer": "webhook_delivery_id webhook_id message_id event epoch seq about said status tries"
        " due_at tried_at response_status reason created_at",
    },
)


# Counts that the nodes of a site share. They are lost with a crash, and nothing else depends on them.
#
# PostgreSQL does not write them to its log.


# No longer read or written, like `node_connection` below; dropped when the schema changes next.
allowance_lease = table(
    "allowance_lease",
    Column("name", Text, primary_key=True),
    integer("allowance"),
    integer("leased"),
    integer("portion"),
    Column("ends_at", Real, nullable=False),
    audiences={"secret": "name allowance leased portion ends_at"},
)

# The failed sign-ins of a pair, an address or an account, by digest.
sign_in_failure = table(
    "sign_in_failure",
    Column("name", Text, primary_key=True),
    integer("failures"),
    Column("last_at", Real, nullable=False),
    audiences={"secret": "name failures last_at"},
)

node_connection = table(
    "node_connection",
    Column("node", Text, primary_key=True),
    Column("address", Text, primary_key=True),
    integer("connections"),
    Column("counted_at", Real, nullable=False),
    audiences={"secret": "node address connections counted_at"},
)
