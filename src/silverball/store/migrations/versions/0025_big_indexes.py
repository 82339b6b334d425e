"""Indexes for profiles, games of a player, members of a club and suspended accounts.

What they serve grew with the whole database.

Frozen: it says what was changed at this step, whatever `store/tables` says today.
"""

from alembic import op
from sqlalchemy import text

revision = "0025"
down_revision = "0024"
branch_labels = None
depends_on = None

MEETINGS = ["player_id", "opponent_id", "games", "wins", "losses"]
SEATS = ["player_id", "tournament_id", "game_id"]


def upgrade() -> None:
    op.create_index("ix_match_summary_of_player", "match_summary", MEETINGS)
    op.create_index("ix_game_player_of_player", "game_player", SEATS)
    # Begins like the new one, which serves in its place.
    op.drop_index("ix_game_player_player_id", "game_player")
    op.create_index("ix_user_club_id", "user", ["club_id"])
    suspended = text("suspended_at IS NOT NULL")
    op.create_index(
        "ix_user_suspended", "user", ["user_id"], sqlite_where=suspended, postgresql_where=suspended
    )


def downgrade() -> None:
    op.drop_index("ix_user_suspended", "user")
    op.drop_index("ix_user_club_id", "user")
    op.create_index("ix_game_player_player_id", "game_player", ["player_id"])
    op.drop_index("ix_game_player_of_player", "game_player")
    op.drop_index("ix_match_summary_of_player", "match_summary")
