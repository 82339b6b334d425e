"""Matches of brackets have a number; several players can give up a game.

Frozen: it says what was changed at this step, whatever `store/tables` says today.
"""

from alembic import op
from sqlalchemy import Column

from silverball.store.types import Id, Json

revision = "0050"
down_revision = "0049"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("game", Column("match_number", Id))
    op.add_column("game", Column("gave_up", Json))
