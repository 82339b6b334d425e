"""Ratings that are published in slices: staged beside the stored ones, shown at once, then moved.

Frozen: it says what was changed at this step, whatever `store/tables` says today. Nodes of the version
before show each rating when it has been moved.
"""

from alembic import op
from sqlalchemy import REAL, Column, Double, Text
from sqlalchemy.types import TypeEngine

from silverball.store.types import Id

revision = "0027"
down_revision = "0026"
branch_labels = None
depends_on = None

NUMBERS = ("rating", "rd", "delta", "lower_bound")
COUNTS = ("game_count", "win_count", "loss_count", "result_count")


def upgrade() -> None:
    real: TypeEngine[float] = REAL().with_variant(Double(), "postgresql")
    op.create_table(
        "staged_rating",
        Column("run", Id, primary_key=True, autoincrement=False),
        Column("rating_id", Id, primary_key=True, autoincrement=False),
        *(Column(name, real) for name in NUMBERS),
        Column("rank", Id),
        Column("first_period", Text),
        Column("last_period", Text),
        *(Column(name, Id) for name in COUNTS),
        sqlite_strict=True,
    )
    op.add_column("rating_period", Column("staged_run", Id))


def downgrade() -> None:
    op.drop_column("rating_period", "staged_run")
    op.drop_table("staged_rating")
