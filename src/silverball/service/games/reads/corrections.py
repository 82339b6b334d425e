"""The players whose place a correction changed, so that they see it."""

from collections.abc import Mapping
from datetime import datetime

from msgspec import Struct
from sqlalchemy import Connection, func, select

from silverball.store.tables import journal
from silverball.store.tournament.journal import ACTION_UNDONE, RESULT_CORRECTED

# Older corrections are no news.
ACTIONS_LOOKED_AT = 200
_J = journal.c


class CorrectedPlace(Struct, frozen=True):
    """The place before and after a correction; None where the standings did not list the player."""

    before: int | None
    after: int | None
    corrected_at: datetime


def corrected_places(db: Connection, tournament_id: int) -> Mapping[int, CorrectedPlace]:
    """Player id -> the place that the newest correction in force changed."""
    own = _J.tournament_id == tournament_id
    newest = select(func.max(_J.action_id)).where(own).scalar_subquery()
    lines = (
        select(_J.action_id, _J.change, _J.data, _J.at)
        .where(own, _J.action_id > newest - ACTIONS_LOOKED_AT)
        .where(_J.change.in_((RESULT_CORRECTED, ACTION_UNDONE)))
        .order_by(_J.action_id)
    )
    rows = db.execute(lines).all()
    undone = {line.data["action"] for line in rows if line.change == ACTION_UNDONE}
    return {
        moved["player_id"]: CorrectedPlace(moved["before"], moved["after"], line.at)
        for line in rows
        if line.change == RESULT_CORRECTED and line.action_id not in undone
        # Lines of an earlier version do not say whom the correction moved.
        for moved in line.data.get("moved", ())
    }
