"""Whether a tournament counts in the women's ranking; null where nobody said so.

Frozen: it says what was changed at this step, whatever `store/tables` says today.
"""

from alembic import op
from sqlalchemy import Column

from silverball.store.types import Flag

revision = "0036"
down_revision = "0035"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("tournament", Column("womens", Flag))


def downgrade() -> None:
    op.drop_column("tournament", "womens")
