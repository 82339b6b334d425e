"""Stored replies know the running minute that they were stored in, and their tournament.

Frozen: it says what was changed at this step, whatever `store/tables` says today.
"""

from alembic import op
from sqlalchemy import Column, text

from silverball.store.types import Id

revision = "0046"
down_revision = "0045"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("idempotency", Column("minute", Id, nullable=False, server_default=text("0")))
    op.add_column("idempotency", Column("tournament_id", Id))
