"""Digests of announcements and of players' names, by which verification finds texts changed outside.

Frozen: it says what was changed at this step, whatever `store/tables` says today.
"""

from alembic import op
from sqlalchemy import Column, Text

revision = "0020"
down_revision = "0019"
branch_labels = None
depends_on = None


def upgrade() -> None:
    # Rows of earlier versions have none: nothing is said about them.
    op.add_column("announcement", Column("digest", Text, nullable=True))
    op.add_column("player", Column("name_digest", Text, nullable=True))


def downgrade() -> None:
    op.drop_column("player", "name_digest")
    op.drop_column("announcement", "digest")
