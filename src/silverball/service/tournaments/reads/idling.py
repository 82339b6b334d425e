"""Running tournaments that have been left idle."""

from datetime import datetime

from sqlalchemy import ColumnElement, Connection, Select, func, or_, select

from silverball.rules.mechanics import idle
from silverball.rules.registry import FORMATS
from silverball.store import tables
from silverball.store.journal import PLAYERS_MERGED

TOURNAMENTS_MAX = 1000
_T, _J = tables.tournament.c, tables.journal.c


def idle_tournaments(db: Connection, now: datetime) -> list[int]:
    """Ids of the idle tournaments, ascending, up to the number that one run closes."""
    statement = _started_tournaments(
        _T.updated_at < now - idle.IDLE_MAX, or_(_T.end_utc.is_(None), _T.end_utc <= now)
    )
    return [row.tournament_id for row in db.execute(statement) if _is_idle(row, now)]


def last_activity(db: Connection, tournament_id: int, now: datetime) -> datetime | None:
    """The time of the last activity of an idle tournament; None when it is not idle."""
    row = db.execute(_started_tournaments(_T.tournament_id == tournament_id)).one_or_none()
    return row.touched_at if row is not None and _is_idle(row, now) else None


def _started_tournaments(*conditions: ColumnElement[bool]) -> Select[int, datetime | None, datetime]:
    """Started tournaments with the time of their last activity.

    The newest journal line counts, because an imported `updated_at` may be older than the import.
    """
    played = (_J.tournament_id == _T.tournament_id, _J.change != PLAYERS_MERGED)
    newest = select(func.max(_J.at)).where(*played).scalar_subquery()
    touched_at = func.coalesce(newest, _T.updated_at, type_=_T.updated_at.type).label("touched_at")
    columns = select(_T.tournament_id, _T.end_utc, touched_at)
    statement = columns.where(_T.status == "started", _T.type.in_(sorted(FORMATS)), *conditions)
    return statement.order_by(_T.tournament_id).limit(TOURNAMENTS_MAX)


def _is_idle(row: object, now: datetime) -> bool:
    return idle.is_idle(row.touched_at, row.end_utc, now)  # type: ignore[attr-defined]  # columns of _started_tournaments
