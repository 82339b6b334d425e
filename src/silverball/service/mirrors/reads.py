"""Mirrors: tournaments that are run on another service."""

from collections.abc import Collection, Sequence
from datetime import datetime

from msgspec import Struct
from sqlalchemy import Connection, select

from silverball.store import tables

_M = tables.mirror.c
# Each has a program of its own, so there are never as many.
MIRRORS_MAX = 1_000


class Mirror(Struct, frozen=True):
    """A tournament that another service runs."""

    tournament_id: int
    host: str
    remote_id: int
    # The last moment that is known, while the other service does not answer.
    lost_at: datetime | None
    # Milliseconds from an event there to its announcement here.
    lag_median: int | None
    lag_p99: int | None
    # Players whose place or points differ there; None as long as none did.
    standings_differ: int | None


def find_mirror(db: Connection, tournament_id: int) -> Mirror | None:
    """The mirror with this id; None for an ordinary tournament."""
    row = db.execute(select(tables.mirror).where(_M.tournament_id == tournament_id)).one_or_none()
    return None if row is None else Mirror(**row._mapping)


def running_mirrors(db: Connection) -> Sequence[Mirror]:
    """The mirrors of tournaments that are not completed, by tournament."""
    tournament = tables.tournament.c
    rows = (
        select(tables.mirror)
        .join(tables.tournament, tournament.tournament_id == _M.tournament_id)
        .where(tournament.status != "completed")
        .order_by(_M.tournament_id)
        .limit(MIRRORS_MAX)
    )
    return [Mirror(**row._mapping) for row in db.execute(rows)]


def player_names(db: Connection, player_ids: Collection[int]) -> dict[int, str]:
    """The names of these players, by id."""
    own = tables.player.c
    rows = select(own.player_id, own.name).where(own.player_id.in_(player_ids)).order_by(own.player_id)
    return {row.player_id: row.name for row in db.execute(rows)}
