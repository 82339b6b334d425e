"""Actions of a book can be undone; merges of arenas are found in a journal.

Frozen: it says what was changed at this step, whatever `store/tables` says today.
"""

from alembic import op
from sqlalchemy import Column, ForeignKey, Index, MetaData, Table, Text, text

from silverball.store.types import Id, Instant, Json

revision = "0052"
down_revision = "0051"
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
    Table("user", tables, Column("user_id", Id, primary_key=True))
    made = Table(
        "book_action",
        tables,
        Column("book_action_id", Id, primary_key=True),
        Column("user_id", Id, ForeignKey("user.user_id", ondelete="CASCADE"), nullable=False),
        Column("kind", Text, nullable=False),
        Column("data", Json, nullable=False),
        Column("at", Instant, nullable=False),
        Column("undone_at", Instant),
        sqlite_strict=True,
        sqlite_autoincrement=True,
    )
    Index(None, made.c.user_id, made.c.book_action_id)
    made.create(op.get_bind())
    op.create_index(
        "ix_journal_arena_merges",
        "journal",
        ["tournament_id"],
        sqlite_where=text("change = 'ArenasMerged'"),
        postgresql_where=text("change = 'ArenasMerged'"),
    )
