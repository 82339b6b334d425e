"""Whether the order of tied players was drawn by lot.

Frozen: it says what was changed at this step, whatever `store/tables` says today.
"""

from alembic import op
from sqlalchemy import Column

from silverball.store.types import Flag

revision = "0033"
down_revision = "0032"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("entrant", Column("tie_drawn", Flag))


def downgrade() -> None:
    op.drop_column("entrant", "tie_drawn")
