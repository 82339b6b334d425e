"""Rating submissions: results that are sent in by address.

Frozen: it says what was changed at this step, whatever `store/tables` says today.
"""

from alembic import op
from sqlalchemy import Column, ForeignKey, Text, UniqueConstraint

from silverball.store.types import Flag, Id, Instant, Json

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    _create_submission()
    _create_player()
    _create_document()


def downgrade() -> None:
    op.drop_table("submission_document")
    op.drop_table("submission_player")
    op.drop_table("rating_submission")


def _create_submission() -> None:
    submitter = ForeignKey("user.user_id", name="fk_rating_submission_submitter_id")
    op.create_table(
        "rating_submission",
        Column("rating_submission_id", Id, primary_key=True),
        Column("submitter_id", Id, submitter, nullable=False),
        Column("url", Text, nullable=False),
        Column("source_domain", Text, nullable=False),
        Column("status", Text, nullable=False),
        Column("name", Text),
        Column("format", Text),
        Column("event_date", Text),
        Column("rating_period", Text),
        Column("player_count", Id),
        Column("game_count", Id),
        Column("result_count", Id),
        Column("errors", Json, nullable=False),
        Column("moderator_note", Text),
        Column("hash", Text),
        Column("tries", Id, nullable=False),
        Column("tried_at", Instant),
        Column("created_at", Instant, nullable=False),
        Column("updated_at", Instant, nullable=False),
        UniqueConstraint("hash", name="uq_rating_submission_hash"),
        sqlite_strict=True,
        sqlite_autoincrement=True,
    )
    for name in ("status", "submitter_id", "url", "event_date"):
        op.create_index(f"ix_rating_submission_{name}", "rating_submission", [name])


def _submission(table: str) -> Column[int]:
    rule = ForeignKey(
        "rating_submission.rating_submission_id", name=f"fk_{table}_rating_submission_id", ondelete="CASCADE"
    )
    return Column("rating_submission_id", Id, rule, primary_key=True)


def _create_player() -> None:
    player = ForeignKey("user.user_id", name="fk_submission_player_user_id")
    op.create_table(
        "submission_player",
        _submission("submission_player"),
        Column("place", Id, primary_key=True),
        Column("name", Text, nullable=False),
        Column("ifpa_id", Id),
        Column("user_id", Id, player),
        Column("settled", Flag, nullable=False),
        Column("candidates", Json, nullable=False),
        sqlite_strict=True,
    )
    op.create_index("ix_submission_player_user_id", "submission_player", ["user_id"])


def _create_document() -> None:
    op.create_table(
        "submission_document",
        _submission("submission_document"),
        Column("body", Text, nullable=False),
        sqlite_strict=True,
    )
