"""Indexes: no row is looked for by walking through a table that grows.

Frozen: it says what was changed at this step, whatever `store/tables` says today.
"""

from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None

INDEXED = (
    ("user", "ratings_opt_out"),
    ("user", "profile_opt_out"),
    ("club", "user_id"),
    ("shortcut", "user_id"),
    ("shortcut", "tournament_id"),
    ("shortcut", "series_id"),
    ("shortcut", "occasion_id"),
    ("bank_arena", "arena_id"),
    ("occasion", "location_id"),
    ("round", "arena_id"),
    ("game", "bank_id"),
    ("single_player_game", "round_id"),
    ("queue_entry", "arena_id"),
    ("queue_entry", "round_id"),
    ("queue_entry", "player_id"),
    ("entry", "player_id"),
    ("rating", "merged_into"),
    ("rating_period", "is_current"),
    ("device_action", "player_id"),
)


def upgrade() -> None:
    for table, column in INDEXED:
        op.create_index(f"ix_{table}_{column}", table, [column])


def downgrade() -> None:
    for table, column in INDEXED:
        op.drop_index(f"ix_{table}_{column}", table)
