"""Standings of running tournaments are ranked when somebody asks for them, and no longer stored.

Frozen: it says what was changed at this step, whatever `store/tables` says today. Nodes of the version
before read the stored rows, so that these are written until the contraction.
"""

from alembic import op
from sqlalchemy import bindparam, text

revision = "0026"
down_revision = "0025"
branch_labels = None
depends_on = None

# Tournaments of other types came with an import and are never ranked here.
RANKED_TYPES = (
    "amazingrace",
    "best_game",
    "bowling",
    "bracket",
    "card_best_game",
    "double_bracket",
    "double_round_robin",
    "frenzy",
    "golf",
    "golf_bracket",
    "group_bracket",
    "group_knockout",
    "group_matchplay",
    "knockout",
    "ladder",
    "manual_matchplay",
    "matchplay",
    "max_matchplay",
    "pace_matchplay",
    "round_robin",
    "target",
)
DELETE_RUNNING = text(
    "DELETE FROM standing WHERE tournament_id IN"
    " (SELECT tournament_id FROM tournament WHERE status <> 'completed' AND type IN :types)"
).bindparams(bindparam("types", expanding=True))


def upgrade() -> None:
    """Add nothing: the rows are written until nobody reads them."""


def contract() -> None:
    op.get_bind().execute(DELETE_RUNNING, {"types": RANKED_TYPES})


def downgrade() -> None:
    """Bring nothing back: only what was contracted lacks rows, and a contraction is final."""
