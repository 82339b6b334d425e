"""Federation numbers know the batch that they were confirmed in.

Frozen: it says what was changed at this step, whatever `store/tables` says today.
"""

from alembic import op
from sqlalchemy import Column

from silverball.store.types import Id

revision = "0051"
down_revision = "0050"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("confirmed_number", Column("batch_id", Id))
    op.create_index("ix_confirmed_number_batch_id", "confirmed_number", ["batch_id"])
