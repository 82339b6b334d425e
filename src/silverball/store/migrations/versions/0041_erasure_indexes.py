"""Indexes for the erasing of an account, which keeps others waiting while it looks through a whole table.

Frozen: it says what was changed at this step, whatever `store/tables` says today.
"""

from alembic import op
from sqlalchemy import text

revision = "0041"
down_revision = "0040"
branch_labels = None
depends_on = None

# Name -> table, column and the rows that are in it: few, so writing the others costs nothing.
PARTIAL_INDEXES = {
    "ix_game_player_user_id": ("game_player", "user_id", "user_id IS NOT NULL"),
    "ix_suggestion_user_id": ("suggestion", "user_id", "user_id IS NOT NULL"),
    "ix_journal_merges": ("journal", "tournament_id", "change = 'PlayersMerged'"),
    "ix_journal_with_labels": ("journal", "tournament_id", "sealed_labels IS NOT NULL OR hash IS NULL"),
}


def upgrade() -> None:
    for name, (table, column, condition) in PARTIAL_INDEXES.items():
        rows = text(condition)
        op.create_index(name, table, [column], sqlite_where=rows, postgresql_where=rows)


def downgrade() -> None:
    for name, (table, _, _) in reversed(PARTIAL_INDEXES.items()):
        op.drop_index(name, table)
