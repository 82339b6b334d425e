"""Devices: browsers and printed codes that speak for nobody's account, and what they did.

Frozen: it says what was changed at this step, whatever `store/tables` says today.
"""

from alembic import op
from sqlalchemy import Column, ForeignKey, Text, UniqueConstraint

from silverball.store.types import Id, Instant

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    _create_device()
    _create_device_action()


def downgrade() -> None:
    op.drop_table("device_action")
    op.drop_table("device")


def _create_device() -> None:
    tournament = ForeignKey("tournament.tournament_id", name="fk_device_tournament_id", ondelete="CASCADE")
    op.create_table(
        "device",
        Column("device_id", Id, primary_key=True),
        Column("tournament_id", Id, tournament, nullable=False),
        Column("kind", Text, nullable=False),
        Column("name", Text, nullable=False),
        Column("hash", Text),
        Column("secret", Text),
        Column("created_at", Instant, nullable=False),
        Column("last_used_at", Instant),
        Column("revoked_at", Instant),
        UniqueConstraint("hash", name="uq_device_hash"),
        sqlite_strict=True,
        sqlite_autoincrement=True,
    )
    op.create_index("ix_device_tournament_id", "device", ["tournament_id"])


def _create_device_action() -> None:
    tournament = ForeignKey(
        "tournament.tournament_id", name="fk_device_action_tournament_id", ondelete="CASCADE"
    )
    device = ForeignKey("device.device_id", name="fk_device_action_device_id", ondelete="CASCADE")
    op.create_table(
        "device_action",
        Column("tournament_id", Id, tournament, primary_key=True),
        Column("action_id", Id, primary_key=True),
        Column("device_id", Id, device, nullable=False),
        Column("player_id", Id),
        sqlite_strict=True,
    )
    op.create_index("ix_device_action_device_id", "device_action", ["device_id"])
