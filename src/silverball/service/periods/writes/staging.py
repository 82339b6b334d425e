"""Stage the ratings of a run in slices, and move them into the table of ratings once they are shown."""

from collections.abc import Collection, Sequence
from datetime import date
from typing import Any

from sqlalchemy import ColumnElement, Connection, and_, delete, insert, or_, select, update

from silverball.rules.ratings.standing import CurrentRating, RankedRatings
from silverball.service.periods.reads import standing
from silverball.service.periods.writes import periods
from silverball.store import published_ratings, slices, tables
from silverball.store.published_ratings import SHOWN_RUN, STANDING_COLUMNS

_R, _S = tables.rating.c, tables.staged_rating.c
StagedRow = dict[str, Any]


def staged_rows(
    run: int, standings: Sequence[CurrentRating], ranking: RankedRatings, cleared_ids: Sequence[int]
) -> list[StagedRow]:
    """The rows of all ratings, and empty ones of those that have no revision any more; by id."""
    place_by_id = {rating_id: (lower_bound, rank) for lower_bound, rank, rating_id in ranking.rows}
    nothing = (None,) * len(STANDING_COLUMNS)
    values_by_id: dict[int, tuple[Any, ...]] = dict.fromkeys(cleared_ids, nothing)
    for rated in standings:
        days = (rated.first_period.isoformat(), rated.last_period.isoformat())
        values_by_id[rated.rating_id] = (*rated[1:4], *days, *rated[6:], *place_by_id[rated.rating_id])
    return [_staged_row(run, rating_id, values_by_id[rating_id]) for rating_id in sorted(values_by_id)]


def _staged_row(run: int, rating_id: int, values: Sequence[Any]) -> StagedRow:
    return {"run": run, "rating_id": rating_id, **dict(zip(STANDING_COLUMNS, values, strict=True))}


def delete_hidden_slice(db: Connection) -> int:
    """Delete some of the staged ratings that no period shows, and return how many."""
    is_hidden = or_(SHOWN_RUN.is_(None), _S.run != SHOWN_RUN)
    run = db.execute(select(_S.run).where(is_hidden).order_by(_S.run).limit(1)).scalar_one_or_none()
    if run is None:
        return 0
    some, count = _first_slice(db, run)
    db.execute(delete(tables.staged_rating).where(some))
    return count


def store_slice(db: Connection, rows: Sequence[StagedRow]) -> None:
    """Stage these ratings."""
    db.execute(insert(tables.staged_rating), rows)


def move_slice(db: Connection, run: int) -> int:
    """Move some of the run's staged ratings into the table of ratings, and return how many."""
    some, count = _first_slice(db, run)
    if count:
        moved = update(tables.rating).where(_R.rating_id == _S.rating_id, _R.merged_into.is_(None), some)
        db.execute(moved.values({_R[name]: _S[name] for name in STANDING_COLUMNS}))
        db.execute(delete(tables.staged_rating).where(some))
    return count


def show_run(
    db: Connection, run: int, day: date, ranking: RankedRatings, hidden_ids: Collection[int]
) -> bool:
    """Show the run's staged ratings as those of the day, unless other people hide theirs by now."""
    # First the lock: people who opt out from here on wait, and change the ranks that are shown then.
    published_ratings.lock_current_period(db, is_shared=False)
    if standing.hidden_rating_ids(db) != hidden_ids:
        return False
    periods.make_current(db, day, ranking, staged_run=run)
    return True


def _first_slice(db: Connection, run: int) -> tuple[ColumnElement[bool], int]:
    """The first staged rows of a run, which are locked, and their number."""
    rows = select(_S.rating_id).where(_S.run == run).order_by(_S.rating_id).limit(slices.SLICE_ROWS)
    ids = list(db.execute(rows.with_for_update()).scalars())
    if not ids:
        return _S.run.is_(None), 0
    return and_(_S.run == run, _S.rating_id >= ids[0], _S.rating_id <= ids[-1]), len(ids)
