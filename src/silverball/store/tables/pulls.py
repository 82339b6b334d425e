"""Pulls from other services that accounts started on a page, and the turns at each service."""

from sqlalchemy import Column, Text, UniqueConstraint

from silverball.store.tables.base import Real, flag, integer, json, key, key_reference, reference, table, text
from silverball.store.types import Id, Instant

# The newest pull of an account; it is replaced by the next one.
history_pull = table(
    "history_pull",
    key("history_pull_id"),
    reference("user_id", "user.user_id", cascade=True),
    text("address"),
    # The token there. Encrypted, and deleted when the pull ends.
    text("secret", null=True),
    # `{"owners", "series", "tournaments", "since", "isFull"}`, as they were typed.
    json("wanted"),
    flag("is_dry_run"),
    # `active`, `stopped` by its owner, `finished`, or `failed`.
    text("status"),
    # Why it waits or has failed; null when it does neither.
    text("reason", null=True),
    # Whether the tournaments to take are known.
    flag("is_listed"),
    # The account of the token there; null without one.
    integer("remote_user", null=True),
    integer("requests"),
    # Requests of others on the same token meanwhile.
    integer("foreign_requests"),
    # Seconds in which it was at work.
    integer("seconds"),
    # Faults in a row that may pass.
    integer("failures"),
    Column("due_at", Instant, nullable=False),
    # End of the lease of the process that works on it: a killed one is noticed by it.
    Column("busy_until", Instant),
    Column("created_at", Instant, nullable=False),
    Column("updated_at", Instant, nullable=False),
    UniqueConstraint("user_id"),
    indexes=[("status", "due_at")],
    audiences={
        "person": "history_pull_id user_id address wanted is_dry_run status reason is_listed"
        " remote_user requests foreign_requests seconds failures due_at created_at updated_at",
        "secret": "secret busy_until",
    },
)

# A tournament of a pull, and its report as soon as it was read.
history_pull_item = table(
    "history_pull_item",
    key_reference("history_pull_id", "history_pull.history_pull_id"),
    Column("remote_id", Id, primary_key=True),
    integer("place"),
    text("name"),
    text("updated_at", null=True),
    json("report", null=True),
    indexes=[("history_pull_id", "place")],
    audiences={"person": "history_pull_id remote_id place name updated_at report"},
)

# When the next request to a service may be sent: all programs that use one token there take turns.
source_turn = table(
    "source_turn",
    # SHA-256 in hex of host and token.
    Column("name", Text, primary_key=True),
    # Unix time.
    Column("next_at", Real, nullable=False),
    integer("requests"),
    audiences={"secret": "name next_at requests"},
)
