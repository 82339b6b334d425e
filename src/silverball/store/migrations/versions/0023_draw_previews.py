"""How often draws were looked at before they were made.

Frozen: it says what was changed at this step, whatever `store/tables` says today.
"""

from alembic import op
from sqlalchemy import Column, ForeignKey, Text

from silverball.store.types import Id

revision = "0023"
down_revision = "0022"
branch_labels = None
depends_on = None


def upgrade() -> None:
    own = ForeignKey("tournament.tournament_id", name="fk_draw_preview_tournament_id", ondelete="CASCADE")
    op.create_table(
        "draw_preview",
        Column("tournament_id", Id, own, primary_key=True),
        Column("draw", Text, primary_key=True),
        Column("times", Id, nullable=False),
        sqlite_strict=True,
    )


def downgrade() -> None:
    op.drop_table("draw_preview")
