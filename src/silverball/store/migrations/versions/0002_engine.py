"""The engine: stored answers of writing requests, claims that wait for their organizer.

Frozen: it says what was changed at this step, whatever `store/tables` says today.
"""

from alembic import op
from sqlalchemy import Column, ForeignKey, Text

from silverball.store.types import Id, Instant, Json

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    _create_idempotency()
    _create_claim()


def downgrade() -> None:
    op.drop_table("claim")
    op.drop_table("idempotency")


def _create_idempotency() -> None:
    owner = ForeignKey("user.user_id", name="fk_idempotency_user_id", ondelete="CASCADE")
    op.create_table(
        "idempotency",
        Column("user_id", Id, owner, primary_key=True),
        Column("key", Text, primary_key=True),
        Column("fingerprint", Text, nullable=False),
        Column("status", Id, nullable=False),
        Column("body", Text, nullable=False),
        Column("headers", Json, nullable=False),
        Column("at", Instant, nullable=False),
        sqlite_strict=True,
    )
    op.create_index("ix_idempotency_at", "idempotency", ["at"])


def _create_claim() -> None:
    claimed = ForeignKey("player.player_id", name="fk_claim_player_id", ondelete="CASCADE")
    claimant = ForeignKey("user.user_id", name="fk_claim_user_id", ondelete="CASCADE")
    op.create_table(
        "claim",
        Column("player_id", Id, claimed, primary_key=True),
        Column("user_id", Id, claimant, primary_key=True),
        Column("at", Instant, nullable=False),
        sqlite_strict=True,
    )
    op.create_index("ix_claim_user_id", "claim", ["user_id"])
