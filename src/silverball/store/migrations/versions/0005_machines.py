"""The machine database: entries, changed ids, films, tips.

Frozen: it says what was changed at this step, whatever `store/tables` says today.
"""

from alembic import op
from sqlalchemy import Column, Text

from silverball.store.types import Flag, Id, Instant, Json

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

# Compared byte by byte: OPDB ids differ by letter case only.
OPDB_ID = Text().with_variant(Text(collation="C"), "postgresql")


def upgrade() -> None:
    _create_machine()
    _create_machine_change()
    _create_machine_video()
    _create_tip()


def downgrade() -> None:
    for name in ("tip", "machine_video", "machine_change", "machine"):
        op.drop_table(name)


def _create_machine() -> None:
    op.create_table(
        "machine",
        Column("opdb_id", OPDB_ID, primary_key=True),
        Column("opdb_group", OPDB_ID, nullable=False),
        Column("entry_type", Text, nullable=False),
        Column("name", Text, nullable=False),
        Column("common_name", Text),
        Column("short_name", Text),
        Column("entry", Json, nullable=False),
        Column("people", Json),
        Column("images", Json),
        Column("synthetic", Flag, nullable=False),
        Column("homebrew", Flag, nullable=False),
        sqlite_strict=True,
    )
    op.create_index("ix_machine_opdb_group", "machine", ["opdb_group"])


def _create_machine_change() -> None:
    op.create_table(
        "machine_change",
        Column("changelog_id", Id, primary_key=True),
        Column("action", Text, nullable=False),
        Column("opdb_id_deleted", OPDB_ID, nullable=False),
        Column("opdb_id_replacement", OPDB_ID),
        Column("created_at", Instant, nullable=False),
        sqlite_strict=True,
        sqlite_autoincrement=True,
    )


def _create_machine_video() -> None:
    op.create_table(
        "machine_video",
        Column("video_id", Id, primary_key=True),
        Column("opdb_id", OPDB_ID),
        Column("title", Text, nullable=False),
        Column("url", Text, nullable=False),
        Column("provider", Text),
        Column("author", Text),
        Column("duration_seconds", Id),
        sqlite_strict=True,
        sqlite_autoincrement=True,
    )
    op.create_index("ix_machine_video_opdb_id", "machine_video", ["opdb_id"])


def _create_tip() -> None:
    op.create_table(
        "tip",
        Column("tip_id", Id, primary_key=True),
        Column("opdb_id", OPDB_ID),
        Column("category", Text, nullable=False),
        Column("vote_total", Id, nullable=False),
        Column("text", Text, nullable=False),
        Column("created_at", Instant, nullable=False),
        Column("updated_at", Instant, nullable=False),
        sqlite_strict=True,
        sqlite_autoincrement=True,
    )
    op.create_index("ix_tip_opdb_id", "tip", ["opdb_id"])
