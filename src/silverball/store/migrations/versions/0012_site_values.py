"""Values of the whole site (the code of its first account), and browsers that signed in before.

Frozen: it says what was changed at this step, whatever `store/tables` says today.
"""

from alembic import op
from sqlalchemy import Column, ForeignKey, Text

from silverball.store.types import Id, Instant

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "site_value",
        Column("name", Text, primary_key=True),
        Column("value", Text, nullable=False),
        sqlite_strict=True,
    )
    op.create_table(
        "known_browser",
        Column("hash", Text, primary_key=True),
        Column("user_id", Id, ForeignKey("user.user_id", ondelete="CASCADE"), nullable=False),
        Column("created_at", Instant, nullable=False),
        sqlite_strict=True,
    )
    op.create_index("ix_known_browser_user_id", "known_browser", ["user_id"])


def downgrade() -> None:
    op.drop_table("known_browser")
    op.drop_table("site_value")
