"""Indexes of the tournament list: each filter with the list's order, and what other filters ask.

Frozen: it says what was changed at this step, whatever `store/tables` says today.
"""

from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None

ORDER = ["start_utc", "tournament_id"]
LIST_INDEXES = {
    "ix_tournament_list": ORDER,
    "ix_tournament_list_by_organizer": ["organizer_id", *ORDER, "status", "type", "series_id"],
    "ix_tournament_list_by_series": ["series_id", *ORDER, "status", "type", "organizer_id"],
    "ix_tournament_list_by_status": ["status", *ORDER, "type", "organizer_id", "series_id"],
    "ix_tournament_list_by_type": ["type", *ORDER, "status", "organizer_id", "series_id"],
}
# Each begins like one of the new ones, which serves in its place.
REPLACED = ("organizer_id", "series_id", "status")


def upgrade() -> None:
    for name, columns in LIST_INDEXES.items():
        op.create_index(name, "tournament", columns)
    for column in REPLACED:
        op.drop_index(f"ix_tournament_{column}", "tournament")
    op.create_index("ix_entrant_player_id_tournament_id", "entrant", ["player_id", "tournament_id"])
    op.drop_index("ix_entrant_player_id", "entrant")


def downgrade() -> None:
    op.create_index("ix_entrant_player_id", "entrant", ["player_id"])
    op.drop_index("ix_entrant_player_id_tournament_id", "entrant")
    for column in REPLACED:
        op.create_index(f"ix_tournament_{column}", "tournament", [column])
    for name in LIST_INDEXES:
        op.drop_index(name, "tournament")
