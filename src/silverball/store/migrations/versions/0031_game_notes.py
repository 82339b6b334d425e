"""Notes on games, which directors and scorekeepers see.

Frozen: it says what was changed at this step, whatever `store/tables` says today.
"""

from alembic import op
from sqlalchemy import Column, ForeignKey, Text

from silverball.store.types import Id

revision = "0031"
down_revision = "0030"
branch_labels = None
depends_on = None

TOURNAMENT = ForeignKey("tournament.tournament_id", name="fk_game_note_tournament_id", ondelete="CASCADE")


def upgrade() -> None:
    op.create_table(
        "game_note",
        Column("note_id", Id, primary_key=True),
        Column("tournament_id", Id, TOURNAMENT, nullable=False),
        Column("game_id", Id, nullable=False),
        Column("action_id", Id, nullable=False),
        Column("player_id", Id),
        Column("kind", Text, nullable=False),
        Column("text", Text, nullable=False),
        sqlite_strict=True,
        sqlite_autoincrement=True,
    )
    op.create_index("ix_game_note_tournament_id_game_id", "game_note", ["tournament_id", "game_id"])
    op.create_index("ix_game_note_player_id", "game_note", ["player_id"])


def downgrade() -> None:
    op.drop_table("game_note")
