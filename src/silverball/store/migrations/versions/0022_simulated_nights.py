"""Outcomes of simulated nights, by their settings.

Frozen: it says what was changed at this step, whatever `store/tables` says today.
"""

from alembic import op
from sqlalchemy import REAL, Column, Double, Text
from sqlalchemy.types import TypeEngine

from silverball.store.types import Id, Instant

revision = "0022"
down_revision = "0021"
branch_labels = None
depends_on = None


def upgrade() -> None:
    real: TypeEngine[float] = REAL().with_variant(Double(), "postgresql")
    op.create_table(
        "simulated_night",
        Column("night", Text, primary_key=True),
        Column("nights", Id, nullable=False),
        Column("rounds", real, nullable=False),
        Column("meaningful_games", real, nullable=False),
        Column("meaningful_games_of_first", real, nullable=False),
        Column("computed_at", Instant, nullable=False),
        sqlite_strict=True,
    )


def downgrade() -> None:
    op.drop_table("simulated_night")
