"""The journal is a chain: hashes and salts of its lines, and its head in announcements.

The lines that exist are chained after the migration, a tournament at a time (store/chain): nodes of the
version before go on writing meanwhile, and what they write is chained by the next line after it.

Frozen: it says what was changed at this step, whatever `store/tables` says today.
"""

from alembic import op
from sqlalchemy import Column, Text

from silverball.store.types import Id, Json

revision = "0021"
down_revision = "0020"
branch_labels = None
depends_on = None

TEXTS = ("source_salt", "source_hash", "digests", "hash")


def upgrade() -> None:
    op.add_column("journal", Column("draw_version", Id, nullable=True))
    op.add_column("journal", Column("sealed_labels", Json, nullable=True))
    for name in TEXTS:
        op.add_column("journal", Column(name, Text, nullable=True))
    op.add_column("announcement", Column("journal_head", Text, nullable=True))


def downgrade() -> None:
    op.drop_column("announcement", "journal_head")
    for name in ("sealed_labels", "draw_version", *TEXTS):
        op.drop_column("journal", name)
