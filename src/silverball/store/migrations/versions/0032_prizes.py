"""The prize money of tournaments, and who was paid.

Frozen: it says what was changed at this step, whatever `store/tables` says today.
"""

from alembic import op
from sqlalchemy import Column

from silverball.store.types import Json

revision = "0032"
down_revision = "0031"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("tournament", Column("prizes", Json))


def downgrade() -> None:
    op.drop_column("tournament", "prizes")
