"""Sign-ups of people who are no players yet have rows of their own.

Frozen: it says what was changed at this step, whatever `store/tables` says today.
"""

from alembic import op
from sqlalchemy import Column, ForeignKey, Index, MetaData, Table, Text

from silverball.store.types import Flag, Id, Instant

revision = "0047"
down_revision = "0046"
branch_labels = None
depends_on = None


def upgrade() -> None:
    tables = MetaData(
        naming_convention={
            "ix": "ix_%(table_name)s_%(column_0_N_name)s",
            "fk": "fk_%(table_name)s_%(column_0_name)s",
            "pk": "pk_%(table_name)s",
        }
    )
    Table("tournament", tables, Column("tournament_id", Id, primary_key=True))
    made = Table(
        "sign_up_request",
        tables,
        Column("sign_up_id", Id, primary_key=True),
        Column(
            "tournament_id", Id, ForeignKey("tournament.tournament_id", ondelete="CASCADE"), nullable=False
        ),
        Column("name", Text, nullable=False),
        Column("status", Text, nullable=False),
        Column("signed_up_at", Instant, nullable=False),
        Column("is_late", Flag, nullable=False),
        Column("source", Text, nullable=False),
        Column("browser", Text, nullable=False),
        Column("player_id", Id),
        sqlite_strict=True,
        sqlite_autoincrement=True,
    )
    Index(None, made.c.tournament_id)
    Index(None, made.c.source, made.c.signed_up_at)
    made.create(op.get_bind())
