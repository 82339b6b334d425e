"""The turns of all programs that use one token of another service.

Frozen: it says what was changed at this step, whatever `store/tables` says today.
"""

from alembic import op
from sqlalchemy import REAL, Column, Double, Text

from silverball.store.types import Id

revision = "0039"
down_revision = "0038"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "source_turn",
        Column("name", Text, primary_key=True),
        Column("next_at", REAL().with_variant(Double(), "postgresql"), nullable=False),
        Column("requests", Id, nullable=False),
        sqlite_strict=True,
    )


def downgrade() -> None:
    op.drop_table("source_turn")
