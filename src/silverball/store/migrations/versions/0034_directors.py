"""Directors: scorekeepers who may do all that the organizer may but delete, and links that make them.

Frozen: it says what was changed at this step, whatever `store/tables` says today.
"""

from alembic import op
from sqlalchemy import Column, ForeignKey, Text

from silverball.store.types import Flag, Id, Instant

revision = "0034"
down_revision = "0033"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("scorekeeper", Column("is_director", Flag))
    op.create_table(
        "director_link",
        Column("hash", Text, primary_key=True),
        Column("tournament_id", Id, _reference("tournament"), nullable=False),
        Column("created_by", Id, _reference("user", "created_by"), nullable=False),
        Column("expires_at", Instant, nullable=False),
        sqlite_strict=True,
    )
    for name in ("tournament_id", "created_by"):
        op.create_index(f"ix_director_link_{name}", "director_link", [name])


def downgrade() -> None:
    op.drop_table("director_link")
    op.drop_column("scorekeeper", "is_director")


def _reference(table: str, column: str = "") -> ForeignKey:
    own = column or f"{table}_id"
    return ForeignKey(f"{table}.{table}_id", name=f"fk_director_link_{own}", ondelete="CASCADE")
