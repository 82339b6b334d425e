"""When, where and with which browser people signed in.

Frozen: it says what was changed at this step, whatever `store/tables` says today.
"""

from alembic import op
from sqlalchemy import Column, Text

from silverball.store.types import Instant

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None

# Sessions that are open at the upgrade go on, and are empty in these.
COLUMNS = (("seen_at", Instant), ("proved_at", Instant), ("network", Text), ("browser", Text))


def upgrade() -> None:
    for name, kind in COLUMNS:
        op.add_column("session", Column(name, kind))


def downgrade() -> None:
    for name, _ in COLUMNS:
        op.drop_column("session", name)
