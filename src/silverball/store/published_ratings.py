"""The ratings as they are published, whether or not they are in `rating` already.

The ratings of thousands of people are published in three steps, of which none makes anybody wait: they
are staged in slices, one short transaction shows them all, and they are moved into `rating` in slices.
"""

from sqlalchemy import Connection, and_, case, or_, select, true, update

from silverball.store import tables

STANDING_COLUMNS = (
    *("rating", "rd", "delta", "first_period", "last_period"),
    *("game_count", "win_count", "loss_count", "result_count", "lower_bound", "rank"),
)
_R, _S, _P = tables.rating.c, tables.staged_rating.c, tables.rating_period.c
# Null when all are moved. A day is finished after that; one that another node finished was published anew.
SHOWN_RUN = (
    select(_P.staged_run).where(_P.is_current == true(), _P.fingerprint.is_(None)).limit(1).scalar_subquery()
)
# The columns of `rating`.
PUBLISHED = (
    select(
        *(
            case((_S.rating_id.is_not(None), _S[column.name]), else_=column).label(column.name)
            if column.name in STANDING_COLUMNS
            else column
            for column in _R
        )
    )
    .select_from(tables.rating)
    .outerjoin(tables.staged_rating, and_(_S.run == SHOWN_RUN, _S.rating_id == _R.rating_id))
    .subquery("published_rating")
)


def are_staged_ratings_shown(db: Connection) -> bool:
    """Whether some published ratings are not in `rating` yet."""
    return db.execute(select(SHOWN_RUN)).scalar_one_or_none() is not None


def lock_current_period(db: Connection, *, is_shared: bool = True) -> None:
    """Wait until ratings that are being shown are shown, and let no others be shown until the commit."""
    current = select(_P.rating_period_id).where(_P.is_current == true()).with_for_update(read=is_shared)
    if db.execute(current).first() is None:
        # PostgreSQL waited for a row that is not the current one any more.
        db.execute(current)


def move_ranks_below(db: Connection, lower_bound: float, step: int, *, except_user_id: int) -> None:
    """Move the rank of everybody below this lower bound by a step."""
    # Staged ones first: those that are moved while this waits for them are in `rating` then.
    staged = update(tables.staged_rating).where(
        _S.run == SHOWN_RUN, _S.rank.is_not(None), _S.lower_bound < lower_bound
    )
    own = select(_R.rating_id).where(_R.user_id == except_user_id)
    db.execute(staged.where(_S.rating_id.not_in(own)).values(rank=_S.rank + step))
    below = update(tables.rating).where(_R.rank.is_not(None), _R.lower_bound < lower_bound)
    below = below.where(or_(_R.user_id.is_(None), _R.user_id != except_user_id))
    db.execute(below.values(rank=_R.rank + step))


def store_rank(db: Connection, user_id: int, rank: int | None) -> None:
    """Store the rank of the user's rating."""
    own = select(_R.rating_id).where(_R.user_id == user_id)
    staged = update(tables.staged_rating).where(_S.run == SHOWN_RUN, _S.rating_id.in_(own))
    db.execute(staged.values(rank=rank))
    db.execute(update(tables.rating).where(_R.user_id == user_id).values(rank=rank))
