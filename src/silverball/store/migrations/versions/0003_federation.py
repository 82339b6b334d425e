"""The federation's records of players.

Frozen: it says what was changed at this step, whatever `store/tables` says today.
"""

from alembic import op
from sqlalchemy import REAL, Column, Double, Text

from silverball.store.types import Id, Instant

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "federation_player",
        Column("ifpa_id", Id, primary_key=True, autoincrement=False),
        Column("name", Text, nullable=False),
        Column("name_plain", Text, nullable=False),
        Column("rank", Id),
        Column("womens_rank", Id),
        Column("rating", REAL().with_variant(Double(), "postgresql")),
        Column("rating_rank", Id),
        Column("total_events", Id),
        Column("initials", Text),
        Column("city", Text),
        Column("state", Text),
        Column("country_code", Text),
        Column("country_name", Text),
        Column("updated_at", Instant, nullable=False),
        sqlite_strict=True,
        sqlite_autoincrement=True,
    )
    op.create_index("ix_federation_player_name_plain", "federation_player", ["name_plain"])


def downgrade() -> None:
    op.drop_table("federation_player")
