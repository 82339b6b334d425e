"""Stamps beside the revisions, and the generation of the database.

Frozen: it says what was changed at this step, whatever `store/tables` says today. Nodes of the version
before go on writing: they leave the stamps as they are.
"""

import secrets

from alembic import op
from sqlalchemy import Column, text

from silverball.store.types import Id

revision = "0017"
down_revision = "0016"
branch_labels = None
depends_on = None


def upgrade() -> None:
    for table in ("tournament", "world"):
        op.add_column(table, Column("stamp", Id, nullable=False, server_default=text("0")))
    row = text("INSERT INTO site_value (name, value) VALUES ('generation', :value)")
    op.get_bind().execute(row, {"value": secrets.token_hex(4)})


def downgrade() -> None:
    op.execute("DELETE FROM site_value WHERE name = 'generation'")
    for table in ("world", "tournament"):
        op.drop_column(table, "stamp")
