"""Tournaments that are run elsewhere and followed here.

Frozen: it says what was changed at this step, whatever `store/tables` says today.
"""

from alembic import op
from sqlalchemy import Column, ForeignKey, Text

from silverball.store.types import Id, Instant

revision = "0037"
down_revision = "0036"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "mirror",
        Column(
            "tournament_id", Id, ForeignKey("tournament.tournament_id", ondelete="CASCADE"), primary_key=True
        ),
        Column("host", Text, nullable=False),
        Column("remote_id", Id, nullable=False),
        Column("lost_at", Instant),
        Column("lag_median", Id),
        Column("lag_p99", Id),
        sqlite_strict=True,
    )


def downgrade() -> None:
    op.drop_table("mirror")
