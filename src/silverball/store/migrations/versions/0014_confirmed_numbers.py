"""Federation numbers that an administrator has confirmed for an account.

Nothing was confirmed before, and whoever claimed a player with a number had the number's rating. So each
number leaves the account's rating, which keeps its values, and all rated days are looked at again: results
of players without an account are then the number's. Confirming the number joins the two again.

Frozen: it says what was changed at this step, whatever `store/tables` says today.
"""

from alembic import op
from sqlalchemy import Column, ForeignKey, UniqueConstraint, column, exists, false, table

from silverball.store.types import Flag, Id, Instant

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None

_RATING = table("rating", column("user_id", Id), column("ifpa_id", Id))
_PERIOD = table("rating_period", column("status"), column("is_imported", Flag))
_JOINED = (_RATING.c.user_id.is_not(None), _RATING.c.ifpa_id.is_not(None))


def upgrade() -> None:
    account = ForeignKey("user.user_id", name="fk_confirmed_number_user_id", ondelete="CASCADE")
    op.create_table(
        "confirmed_number",
        Column("ifpa_id", Id, primary_key=True, autoincrement=False),
        Column("user_id", Id, account, nullable=False),
        Column("at", Instant, nullable=False),
        UniqueConstraint("user_id", name="uq_confirmed_number_user_id"),
        sqlite_strict=True,
        sqlite_autoincrement=True,
    )
    op.execute(
        _PERIOD.update()
        .where(_PERIOD.c.status == "processed", _PERIOD.c.is_imported == false(), exists().where(*_JOINED))
        .values(status="dirty")
    )
    op.execute(_RATING.update().where(*_JOINED).values(ifpa_id=None))


def downgrade() -> None:
    op.drop_table("confirmed_number")
