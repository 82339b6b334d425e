"""Suspended accounts, and networks that are blocked.

Frozen: it says what was changed at this step, whatever `store/tables` says today.
"""

from alembic import op
from sqlalchemy import Column, Text

from silverball.store.types import Instant

revision = "0016"
down_revision = "0015"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("user", Column("suspended_at", Instant))
    op.create_table(
        "blocked_network",
        Column("network", Text, primary_key=True),
        Column("created_at", Instant, nullable=False),
        sqlite_strict=True,
    )


def downgrade() -> None:
    op.drop_table("blocked_network")
    op.drop_column("user", "suspended_at")
