"""Ratings: rated people, rating periods, revisions.

Frozen: it says what was changed at this step, whatever `store/tables` says today.
"""

from typing import Any

from alembic import op
from sqlalchemy import REAL, Column, Double, ForeignKey, Text, UniqueConstraint
from sqlalchemy.types import TypeEngine

from silverball.store.types import Flag, Id, Instant, Json

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

REAL_NUMBER: TypeEngine[float] = REAL().with_variant(Double(), "postgresql")
COUNTS = ("game_count", "win_count", "loss_count", "result_count")


def upgrade() -> None:
    _create_rating()
    _create_rating_period()
    _create_rating_revision()
    op.create_table(
        "rating_run",
        Column("slot", Id, primary_key=True, autoincrement=False),
        _column("run", Id, null=False),
        sqlite_strict=True,
        sqlite_autoincrement=True,
    )
    # The tournaments of a day are looked for by it.
    op.create_index("ix_tournament_status_completed_at", "tournament", ["status", "completed_at"])


def downgrade() -> None:
    op.drop_index("ix_tournament_status_completed_at", "tournament")
    for name in ("rating_run", "rating_revision", "rating_period", "rating"):
        op.drop_table(name)


def _column(name: str, kind: Any = Text, *, null: bool = True) -> Column[object]:
    return Column(name, kind, nullable=null)


def _ref(table: str, name: str, target: str, *, null: bool = True) -> Column[int]:
    return Column(name, Id, ForeignKey(target, name=f"fk_{table}_{name}"), nullable=null)


def _create_rating() -> None:
    op.create_table(
        "rating",
        Column("rating_id", Id, primary_key=True),
        _ref("rating", "user_id", "user.user_id"),
        _column("ifpa_id", Id),
        _ref("rating", "organizer_id", "user.user_id"),
        _column("name_key"),
        _column("name", null=False),
        _column("name_folded", null=False),
        _ref("rating", "merged_into", "rating.rating_id"),
        _column("rating", REAL_NUMBER),
        _column("rd", REAL_NUMBER),
        _column("delta", REAL_NUMBER),
        _column("lower_bound", REAL_NUMBER),
        _column("rank", Id),
        _column("first_period"),
        _column("last_period"),
        *(_column(name, Id) for name in COUNTS),
        UniqueConstraint("user_id", name="uq_rating_user_id"),
        UniqueConstraint("ifpa_id", name="uq_rating_ifpa_id"),
        UniqueConstraint("organizer_id", "name_key", name="uq_rating_organizer_id_name_key"),
        sqlite_strict=True,
        sqlite_autoincrement=True,
    )
    op.create_index("ix_rating_rating", "rating", ["rating"])


def _create_rating_period() -> None:
    counts = ("tournament_count", "challenge_count", "ext_event_count", "result_count", "player_count")
    op.create_table(
        "rating_period",
        Column("rating_period_id", Id, primary_key=True),
        _column("period_date", null=False),
        _column("status", null=False),
        _column("is_current", Flag, null=False),
        _column("is_imported", Flag, null=False),
        *(_column(name, Id) for name in counts),
        _column("fingerprint"),
        _column("algorithm_version", Id),
        _column("parameters", Json),
        _column("percentiles", Json),
        _column("processed_at", Instant),
        UniqueConstraint("period_date", name="uq_rating_period_period_date"),
        sqlite_strict=True,
        sqlite_autoincrement=True,
    )
    op.create_index("ix_rating_period_status_period_date", "rating_period", ["status", "period_date"])


def _create_rating_revision() -> None:
    op.create_table(
        "rating_revision",
        Column("rating_revision_id", Id, primary_key=True),
        _ref("rating_revision", "rating_id", "rating.rating_id", null=False),
        _column("period_date", null=False),
        _column("rating", REAL_NUMBER, null=False),
        _column("rd", REAL_NUMBER, null=False),
        _column("delta", REAL_NUMBER),
        *(_column(name, Id) for name in COUNTS),
        _column("meetings", Json),
        UniqueConstraint("rating_id", "period_date", name="uq_rating_revision_rating_id_period_date"),
        sqlite_strict=True,
        sqlite_autoincrement=True,
    )
    op.create_index("ix_rating_revision_period_date", "rating_revision", ["period_date"])
