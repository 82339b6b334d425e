"""The local ids of what came from other services, and a name by which other services know this one.

Frozen: it says what was changed at this step, whatever `store/tables` says today.
"""

import secrets

from alembic import op
from sqlalchemy import Column, Text, bindparam, text

from silverball.store.types import Id

revision = "0029"
down_revision = "0028"
branch_labels = None
depends_on = None

STORE_NAME = text("INSERT INTO site_value (name, value) VALUES ('site', :value)")


def upgrade() -> None:
    op.create_table(
        "remote_id",
        Column("source", Text, primary_key=True),
        Column("kind", Text, primary_key=True),
        Column("remote_id", Id, primary_key=True),
        Column("local_id", Id, nullable=False),
        sqlite_strict=True,
    )
    op.create_index("ix_remote_id_kind_local_id", "remote_id", ["kind", "local_id"])
    op.execute(STORE_NAME.bindparams(bindparam("value", secrets.token_hex(8))))


def downgrade() -> None:
    op.drop_table("remote_id")
    op.execute("DELETE FROM site_value WHERE name = 'site'")
