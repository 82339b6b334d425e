"""Devices: browsers and printed codes that act in one tournament without an account."""

from sqlalchemy import Column, Text, UniqueConstraint

from silverball.store.tables.base import integer, key, key_reference, reference, table, text
from silverball.store.types import Instant

device = table(
    "device",
    key("device_id"),
    reference("tournament_id", "tournament.tournament_id", cascade=True),
    # scorekeeper: a browser that records results; codes: the codes that are printed for the players.
    text("kind"),
    text("name"),
    # For a scorekeeper's device: SHA-256 in hex of the secret in its link, which is stored nowhere.
    text("hash", null=True),
    # For codes: the secret that each code is derived from, encrypted.
    text("secret", null=True),
    Column("created_at", Instant, nullable=False),
    Column("last_used_at", Instant),
    # The row stays, because the journal refers to it.
    Column("revoked_at", Instant),
    UniqueConstraint("hash"),
    indexes=[("tournament_id",)],
    audiences={
        "organizer": "device_id tournament_id kind name created_at last_used_at revoked_at",
        "secret": "hash secret",
    },
)

# Actions in the journal that were done without an account.
device_action = table(
    "device_action",
    key_reference("tournament_id", "tournament.tournament_id"),
    key("action_id"),
    reference("device_id", "device.device_id", cascade=True),
    # The player of the printed code; null for a scorekeeper's device and for the code of a game.
    integer("player_id", null=True),
    indexes=[("device_id",), ("player_id",)],
    audiences={"staff": "tournament_id action_id device_id player_id"},
)

# Links that make the first organizer who opens one a director.
director_link = table(
    "director_link",
    # SHA-256 in hex of the secret in the link.
    Column("hash", Text, primary_key=True),
    reference("tournament_id", "tournament.tournament_id", cascade=True),
    reference("created_by", "user.user_id", cascade=True),
    Column("expires_at", Instant, nullable=False),
    indexes=[("tournament_id",), ("created_by",)],
    audiences={"secret": "hash tournament_id created_by expires_at"},
)
