"""A step for the indexes of names, which `store/name_indexes` makes after the tables of every migration.

It makes them and not this step, because on PostgreSQL they can be made only where the database has
`pg_trgm`, which somebody may add later. Frozen: it says what was changed at this step.
"""

from alembic import op

revision = "0042"
down_revision = "0041"
branch_labels = None
depends_on = None

SEARCHED = ("user", "player", "tournament", "rating", "federation_player")


def upgrade() -> None:
    """Change no table."""


def downgrade() -> None:
    is_sqlite = op.get_bind().dialect.name == "sqlite"
    for table in SEARCHED:
        if not is_sqlite:
            op.execute(f"DROP INDEX IF EXISTS {table}_name_search")
            continue
        for ending in ("added", "changed", "removed"):
            op.execute(f"DROP TRIGGER IF EXISTS {table}_name_search_{ending}")
        op.execute(f"DROP TABLE IF EXISTS {table}_name_search")
