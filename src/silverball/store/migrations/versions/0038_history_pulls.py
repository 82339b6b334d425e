"""Pulls from other services that accounts start on a page, with the report of each tournament.

Frozen: it says what was changed at this step, whatever `store/tables` says today.
"""

from alembic import op
from sqlalchemy import Column, ForeignKey, Text, UniqueConstraint

from silverball.store.types import Flag, Id, Instant, Json

revision = "0038"
down_revision = "0037"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "history_pull",
        Column("history_pull_id", Id, primary_key=True),
        Column("user_id", Id, _reference("history_pull", "user"), nullable=False),
        Column("address", Text, nullable=False),
        Column("secret", Text),
        Column("wanted", Json, nullable=False),
        Column("is_dry_run", Flag, nullable=False),
        Column("status", Text, nullable=False),
        Column("reason", Text),
        Column("is_listed", Flag, nullable=False),
        Column("remote_user", Id),
        *(Column(name, Id, nullable=False) for name in COUNTS),
        Column("due_at", Instant, nullable=False),
        Column("busy_until", Instant),
        Column("created_at", Instant, nullable=False),
        Column("updated_at", Instant, nullable=False),
        UniqueConstraint("user_id", name="uq_history_pull_user_id"),
        sqlite_strict=True,
        sqlite_autoincrement=True,
    )
    op.create_index("ix_history_pull_status_due_at", "history_pull", ["status", "due_at"])
    op.create_table(
        "history_pull_item",
        Column("history_pull_id", Id, _reference("history_pull_item", "history_pull"), primary_key=True),
        Column("remote_id", Id, primary_key=True),
        Column("place", Id, nullable=False),
        Column("name", Text, nullable=False),
        Column("updated_at", Text),
        Column("report", Json),
        sqlite_strict=True,
    )
    op.create_index(
        "ix_history_pull_item_history_pull_id_place", "history_pull_item", ["history_pull_id", "place"]
    )


def downgrade() -> None:
    op.drop_table("history_pull_item")
    op.drop_table("history_pull")


def _reference(table: str, to: str) -> ForeignKey:
    return ForeignKey(f"{to}.{to}_id", name=f"fk_{table}_{to}_id", ondelete="CASCADE")


COUNTS = ("requests", "foreign_requests", "seconds", "failures")
