"""Links that an administrator makes: invitations, and ways to a new password.

Frozen: it says what was changed at this step, whatever `store/tables` says today.
"""

from alembic import op
from sqlalchemy import Column, ForeignKey, Text

from silverball.store.types import Id, Instant

revision = "0028"
down_revision = "0027"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "account_link",
        Column("hash", Text, primary_key=True),
        Column("user_id", Id, _account("user_id")),
        Column("role", Text),
        Column("created_by", Id, _account("created_by"), nullable=False),
        Column("created_at", Instant, nullable=False),
        Column("expires_at", Instant, nullable=False),
        sqlite_strict=True,
    )
    for name in ("user_id", "created_by", "expires_at"):
        op.create_index(f"ix_account_link_{name}", "account_link", [name])


def downgrade() -> None:
    op.drop_table("account_link")


def _account(column: str) -> ForeignKey:
    return ForeignKey("user.user_id", name=f"fk_account_link_{column}", ondelete="CASCADE")
