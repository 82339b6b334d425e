"""The sign-up list with its waiting list and payments, and the fees of a tournament.

Frozen: it says what was changed at this step, whatever `store/tables` says today.
"""

from alembic import op
from sqlalchemy import Column, ForeignKey, Text

from silverball.store.types import Flag, Id, Instant, Json

revision = "0035"
down_revision = "0034"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("tournament", Column("sign_up_terms", Json))
    op.create_table(
        "sign_up",
        Column("tournament_id", Id, _reference("tournament"), primary_key=True),
        Column("player_id", Id, _reference("player"), primary_key=True),
        Column("waiting_place", Id),
        Column("signed_up_at", Instant),
        Column("is_late", Flag, nullable=False),
        Column("checked_in_at", Instant),
        Column("paid_cents", Id),
        Column("paid_how", Text),
        Column("paid_to", Id),
        Column("paid_at", Instant),
        sqlite_strict=True,
    )
    op.create_index("ix_sign_up_player_id", "sign_up", ["player_id"])


def downgrade() -> None:
    op.drop_table("sign_up")
    op.drop_column("tournament", "sign_up_terms")


def _reference(table: str) -> ForeignKey:
    return ForeignKey(f"{table}.{table}_id", name=f"fk_sign_up_{table}_id", ondelete="CASCADE")
