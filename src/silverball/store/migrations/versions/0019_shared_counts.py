"""Counts that all nodes share.

Frozen: it says what was changed at this step, whatever `store/tables` says today.
"""

from alembic import op
from sqlalchemy import REAL, Column, Double, Text
from sqlalchemy.types import TypeEngine

from silverball.store.types import Id

revision = "0019"
down_revision = "0018"
branch_labels = None
depends_on = None


def upgrade() -> None:
    # PostgreSQL keeps them out of its log and empties them after a crash.
    prefixes = ["UNLOGGED"] if op.get_bind().dialect.name == "postgresql" else []
    moment: TypeEngine[float] = REAL().with_variant(Double(), "postgresql")
    op.create_table(
        "allowance_lease",
        Column("name", Text, primary_key=True),
        Column("allowance", Id, nullable=False),
        Column("leased", Id, nullable=False),
        Column("portion", Id, nullable=False),
        Column("ends_at", moment, nullable=False),
        sqlite_strict=True,
        prefixes=prefixes,
    )
    op.create_table(
        "sign_in_failure",
        Column("name", Text, primary_key=True),
        Column("failures", Id, nullable=False),
        Column("last_at", moment, nullable=False),
        sqlite_strict=True,
        prefixes=prefixes,
    )
    op.create_table(
        "node_connection",
        Column("node", Text, primary_key=True),
        Column("address", Text, primary_key=True),
        Column("connections", Id, nullable=False),
        Column("counted_at", moment, nullable=False),
        sqlite_strict=True,
        prefixes=prefixes,
    )


def downgrade() -> None:
    for name in ("node_connection", "sign_in_failure", "allowance_lease"):
        op.drop_table(name)
