"""Devices know who made them, and tournaments have a secret of their own for the code of their door.

Frozen: it says what was changed at this step, whatever `store/tables` says today.
"""

from alembic import op
from sqlalchemy import Column, ForeignKey, MetaData, Table, Text

from silverball.store.types import Id

revision = "0045"
down_revision = "0044"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("device", Column("created_by", Id))
    op.create_index("ix_device_created_by", "device", ["created_by"])
    tables = MetaData(
        naming_convention={"fk": "fk_%(table_name)s_%(column_0_name)s", "pk": "pk_%(table_name)s"}
    )
    Table("tournament", tables, Column("tournament_id", Id, primary_key=True))
    Table(
        "code_secret",
        tables,
        Column(
            "tournament_id", Id, ForeignKey("tournament.tournament_id", ondelete="CASCADE"), primary_key=True
        ),
        Column("secret", Text, nullable=False),
        sqlite_strict=True,
    ).create(op.get_bind())
