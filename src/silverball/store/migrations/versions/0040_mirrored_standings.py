"""How many standings of a mirror differ from those there; who wrote an imported note, and when.

Frozen: it says what was changed at this step, whatever `store/tables` says today.
"""

from alembic import op
from sqlalchemy import Column

from silverball.store.types import Id, Instant

revision = "0040"
down_revision = "0039"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("mirror", Column("standings_differ", Id))
    op.add_column("game_note", Column("author_id", Id))
    op.add_column("game_note", Column("written_at", Instant))


def downgrade() -> None:
    op.drop_column("game_note", "written_at")
    op.drop_column("game_note", "author_id")
    op.drop_column("mirror", "standings_differ")
