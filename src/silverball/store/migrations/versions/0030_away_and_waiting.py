"""Players who sit out rounds and come back by themselves, and games whose clock stands still.

Frozen: it says what was changed at this step, whatever `store/tables` says today.
"""

from alembic import op
from sqlalchemy import Column

from silverball.store.types import Id, Instant

revision = "0030"
down_revision = "0029"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("entrant", Column("away_rounds", Id))
    op.add_column("game", Column("waiting_since", Instant))


def downgrade() -> None:
    op.drop_column("game", "waiting_since")
    op.drop_column("entrant", "away_rounds")
