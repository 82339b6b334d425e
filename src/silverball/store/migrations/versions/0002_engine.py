"""The engine: stored answers of writing requests.

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


def downgrade() -> None:
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
