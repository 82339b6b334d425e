"""The audit log.

Frozen: it says what was changed at this step, whatever `store/tables` says today.
"""

from alembic import op
from sqlalchemy import Column, ForeignKey, Text, UniqueConstraint

from silverball.store.types import Id, Instant

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None


def upgrade() -> None:
    account = ForeignKey("user.user_id", name="fk_audit_entry_user_id", ondelete="CASCADE")
    op.create_table(
        "audit_entry",
        Column("audit_entry_id", Id, primary_key=True),
        Column("event", Text, nullable=False),
        Column("user_id", Id, account),
        Column("source", Text, nullable=False),
        Column("detail", Text, nullable=False),
        Column("at", Instant, nullable=False),
        Column("last_at", Instant, nullable=False),
        Column("count", Id, nullable=False),
        Column("bucket", Text),
        UniqueConstraint("bucket", name="uq_audit_entry_bucket"),
        sqlite_strict=True,
        sqlite_autoincrement=True,
    )
    for column in ("at", "user_id"):
        op.create_index(f"ix_audit_entry_{column}", "audit_entry", [column])


def downgrade() -> None:
    op.drop_table("audit_entry")
