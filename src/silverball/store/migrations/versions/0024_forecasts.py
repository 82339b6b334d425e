"""Forecasts of running tournaments.

Frozen: it says what was changed at this step, whatever `store/tables` says today.
"""

from alembic import op
from sqlalchemy import Column, ForeignKey

from silverball.store.types import Id, Instant, Json

revision = "0024"
down_revision = "0023"
branch_labels = None
depends_on = None


def upgrade() -> None:
    own = ForeignKey("tournament.tournament_id", name="fk_forecast_tournament_id", ondelete="CASCADE")
    op.create_table(
        "forecast",
        Column("tournament_id", Id, own, primary_key=True),
        Column("revision", Id),
        Column("computed_at", Instant),
        Column("forecast", Json),
        Column("claimed_until", Instant, nullable=False),
        sqlite_strict=True,
    )


def downgrade() -> None:
    op.drop_table("forecast")
