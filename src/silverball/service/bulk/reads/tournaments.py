"""Published tournaments and their standings, for the bulk files.

Published are completed tournaments that are no tests.
"""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, and_, false, func, or_, select, true, type_coerce

from silverball.rules.model import fields
from silverball.service.bulk.reads import sheets
from silverball.service.bulk.reads.sheets import BulkTable, Period, Row, SheetColumn
from silverball.store import tables
from silverball.store.types import Id

ROWS_AT_ONCE = 2_000
# One step for each month since 1990, and more than enough of them.
MONTHS_MAX = 2_400
_T, _E, _S, _P, _U = (
    tables.tournament.c,
    tables.entrant.c,
    tables.standing.c,
    tables.player.c,
    tables.user.c,
)
_IS_PUBLISHED = and_(_T.status == "completed", _T.test == false())

_IN_BULK = tuple(field for field in fields.TOURNAMENT if field.bulk)
TOURNAMENT_COLUMNS = (
    *map(sheets.column_of, _IN_BULK),
    SheetColumn("player_count", "integer", "Number of players, those who are in no file included."),
)
STANDING_COLUMNS = (
    SheetColumn("tournament_id", "integer", "Id of the tournament.", "tournaments"),
    SheetColumn("player_id", "integer", "Id of the player.", "players"),
    SheetColumn("position", "integer", "Final place; equals share one."),
    SheetColumn("points", "points", "Points in the standings; strikes or strokes in some formats."),
)


def is_published_in(period: Period) -> ColumnElement[bool]:
    """Whether a tournament is published and starts in the period."""
    return and_(_IS_PUBLISHED, _T.start_utc >= period.begin, _T.start_utc < period.end)


def is_published_before(moment: datetime) -> ColumnElement[bool]:
    """Whether a tournament is published and started before a moment, in a month that has files."""
    return and_(_IS_PUBLISHED, _T.start_utc >= _first_moment(), _T.start_utc < moment)


def published_months(db: Connection, now: datetime) -> list[str]:
    """The months with published tournaments up to that of `now`, oldest first."""
    months: list[str] = []
    begin, end = _first_moment(), sheets.month_period(sheets.month_of(now)).end
    for _ in range(MONTHS_MAX):
        first = select(func.min(_T.start_utc)).where(is_published_in(Period(begin, end)))
        start = db.execute(first).scalar_one_or_none()
        if start is None:
            break
        months.append(sheets.month_of(start))
        begin = sheets.month_period(months[-1]).end
    return months


def hidden_player_ids(db: Connection) -> set[int]:
    """The players of people who opted out of statistics, or of the list of what they played."""
    hides = or_(_U.stats_opt_out == true(), _U.history_opt_out == true())
    rows = select(_P.player_id).join(tables.user, _U.user_id == _P.claimed_by).where(hides)
    return set(db.execute(rows).scalars())


def stream(db: Connection, rows: Select[Any]) -> Iterator[Any]:
    """The rows of a statement, a few thousand of them in memory."""
    return iter(db.execute(rows, execution_options={"yield_per": ROWS_AT_ONCE}))


def tournament_rows(db: Connection, period: Period) -> Iterator[Row]:
    """The published tournaments of a period, by id."""
    entrants = select(func.count()).where(_E.tournament_id == _T.tournament_id).scalar_subquery()
    columns = [_T[field.stored_in] for field in _IN_BULK]
    rows = select(*columns, entrants).where(is_published_in(period))
    return map(tuple, stream(db, rows.order_by(_T.tournament_id)))


def standing_rows(db: Connection, period: Period) -> Iterator[Row]:
    """The final standings of a period, by tournament, place and player."""
    hidden = hidden_player_ids(db)
    rows = (
        select(_S.tournament_id, _S.player_id, _S.position, type_coerce(_S.points, Id))
        .join(tables.tournament, _T.tournament_id == _S.tournament_id)
        .where(is_published_in(period))
        .order_by(_S.tournament_id, _S.position, _S.player_id)
    )
    return (tuple(row) for row in stream(db, rows) if row.player_id not in hidden)


TOURNAMENTS = BulkTable("tournaments", TOURNAMENT_COLUMNS, ("tournament_id",), tournament_rows)
STANDINGS = BulkTable("standings", STANDING_COLUMNS, ("tournament_id", "player_id"), standing_rows)


def _first_moment() -> datetime:
    return datetime(sheets.YEAR_MIN, 1, 1, tzinfo=UTC)
