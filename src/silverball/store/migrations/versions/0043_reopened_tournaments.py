"""Reopened tournaments know their first completion, what had results then, and until when plays count.

Frozen: it says what was changed at this step, whatever `store/tables` says today.
"""

from alembic import op
from sqlalchemy import Column

from silverball.store.types import Instant, Json

revision = "0043"
down_revision = "0042"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("tournament", Column("rated_until", Instant))
    op.add_column("tournament", Column("reopening", Json))
