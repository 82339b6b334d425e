"""CSV files of all ratings, line by line. Source: ratings.md E.

Rows are streamed from the database, so a file of any length takes little memory.
"""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

from sqlalchemy import Connection, Select, case, null, select, true

from silverball.rules.ratings import formulas
from silverball.service.ratings.reads import ratings as reads
from silverball.store import rating_days, tables
from silverball.store.published_ratings import PUBLISHED

ROWS_AT_ONCE = 1000
REVISION_DAYS = 365
HEADER = "Name,User ID,IFPA ID,Rating,RD,Lower Bound,Last Rating Period (Data from: {day}),Rating class"
REVISION_HEADER = (
    "Rating ID,User ID,IFPA ID,Rating Period,Rating,RD,Lower Bound,Delta,Games,Wins,Losses,Results"
)
_R, _V, _U = PUBLISHED.c, tables.rating_revision.c, tables.user.c
# A hidden profile hides the federation number too.
_IFPA_ID = case((_U.profile_opt_out == true(), null()), else_=_R.ifpa_id)


def rating_csv_lines(db: Connection) -> Iterator[str]:
    """Lines of `latest-ratings.csv`: all listed ratings by id. Empty before the first period."""
    at = reads.current_period(db)
    if at is None:
        return
    yield HEADER.format(day=at.day.isoformat()) + "\n"
    rows = select(_R.name, _R.user_id, _IFPA_ID, _R.rating, _R.rd, _R.last_period).select_from(PUBLISHED)
    rows = rows.outerjoin(tables.user, _U.user_id == _R.user_id).where(rating_days.IS_LISTED)
    for name, user_id, ifpa_id, rating, rd, last in _stream_rows(db, rows.order_by(_R.rating_id)):
        quoted = name.replace('"', '""')
        lower = formulas.lower_bound(rating, rd)
        yield (
            f'"{quoted}",{_id_text(user_id)},{_id_text(ifpa_id)},{rating:.2f},{rd:.2f},{lower:.2f},'
            f"{last},{formulas.rating_class(rating)}\n"
        )


def revision_csv_lines(db: Connection) -> Iterator[str]:
    """Lines of `latest-rating-revisions.csv`: the revisions of one year, oldest first."""
    at = reads.current_period(db)
    if at is None:
        return
    yield REVISION_HEADER + "\n"
    counts = (_V.game_count, _V.win_count, _V.loss_count, _V.result_count)
    begins = (at.day - timedelta(days=REVISION_DAYS)).isoformat()
    rows = (
        select(_R.rating_id, _R.user_id, _IFPA_ID, _V.period_date, _V.rating, _V.rd, _V.delta, *counts)
        .select_from(tables.rating_revision)
        .join(PUBLISHED, _R.rating_id == _V.rating_id)
        .outerjoin(tables.user, _U.user_id == _R.user_id)
        .where(rating_days.IS_LISTED, _V.period_date > begins)
        .order_by(_V.period_date, _V.rating_id)
    )
    for rating_id, user_id, ifpa_id, day, rating, rd, delta, *sums in _stream_rows(db, rows):
        lower = formulas.lower_bound(rating, rd)
        numbers = ",".join(_id_text(count) for count in sums)
        change = "" if delta is None else reads.two_decimals(delta)
        yield (
            f"{rating_id},{_id_text(user_id)},{_id_text(ifpa_id)},{day},{rating:.2f},{rd:.2f},{lower:.2f},"
            f"{change},{numbers}\n"
        )


def _stream_rows(db: Connection, rows: Select[Any]) -> Iterator[Any]:
    return iter(db.execute(rows, execution_options={"yield_per": ROWS_AT_ONCE}))


def _id_text(number: int | None) -> str:
    return "" if number is None else str(number)
