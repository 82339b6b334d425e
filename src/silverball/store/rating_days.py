"""What changes elsewhere mean for ratings: days that are to be rated again, and who is shown.

Nothing is rated here. A day is marked in the transaction that changes one of its results; the next
run finds the mark.
"""

from collections.abc import Collection
from datetime import UTC, date, datetime

from sqlalchemy import Connection, Select, and_, func, not_, null, or_, select, text, update

from silverball.rules.model.tournament import Tournament
from silverball.rules.registry import rated_types
from silverball.store import names, tables

WAITING = "waiting"
PROCESSED = "processed"
DIRTY = "dirty"
_R = tables.rating.c
# A row that is being written at the same time is waited for, so that no mark is lost.
MARK_DAY = text(
    "INSERT INTO rating_period (period_date, status, is_current, is_imported)"
    " SELECT :day, 'waiting', :no, :no"
    " WHERE NOT EXISTS (SELECT 1 FROM rating_period WHERE is_imported = :yes AND period_date >= :day)"
    " ON CONFLICT (period_date) DO UPDATE SET"
    " status = CASE rating_period.status WHEN 'waiting' THEN 'waiting' ELSE 'dirty' END"
)


def rating_day(moment: datetime) -> date:
    """The period that a moment belongs to: its day in UTC."""
    return moment.astimezone(UTC).date()


def mark_days(db: Connection, days: Collection[date]) -> None:
    """Results of these days are different now; days that came from a file stay as they are."""
    for day in sorted(days):
        db.execute(
            MARK_DAY.bindparams(
                day=day.isoformat(), no=_flag_value(db, value=False), yes=_flag_value(db, value=True)
            )
        )


def _flag_value(db: Connection, *, value: bool) -> bool | int:
    return int(value) if db.dialect.name == "sqlite" else value


def mark_changed_tournament(db: Connection, before: Tournament | None, after: Tournament) -> None:
    """Mark the days of a tournament that is or was completed."""
    days = {
        rating_day(one.completed_at)
        for one in (before, after)
        if one is not None and one.status == "completed" and one.completed_at and one.type in rated_types()
    }
    mark_days(db, days)


def mark_tournament(db: Connection, tournament_id: int) -> None:
    """Mark the day of a tournament as it is stored, if it is completed."""
    own = tables.tournament.c
    rows = select(own.completed_at).where(own.tournament_id == tournament_id, own.status == "completed")
    completed_at = db.execute(rows.where(own.type.in_(rated_types()))).scalar_one_or_none()
    if completed_at is not None:
        mark_days(db, [rating_day(completed_at)])


def mark_players(db: Connection, player_ids: Collection[int]) -> None:
    """It is known better who these players are: their results may be somebody else's from the first on."""
    tournament, entrant = tables.tournament.c, tables.entrant.c
    rows = (
        select(func.min(tournament.completed_at))
        .join(tables.entrant, entrant.tournament_id == tournament.tournament_id)
        .where(
            entrant.player_id.in_(player_ids),
            tournament.status == "completed",
            tournament.type.in_(rated_types()),
        )
    )
    first = db.execute(rows).scalar_one_or_none()
    if first is not None:
        mark_days(db, [rating_day(first)])


def hidden_users() -> Select[tuple[int]]:
    """Users whose ratings are nobody else's business."""
    return select(tables.user.c.user_id).where(tables.user.c.ratings_opt_out)


IS_LISTED = and_(
    _R.merged_into.is_(None),
    _R.last_period.is_not(None),
    or_(_R.user_id.is_(None), _R.user_id.not_in(hidden_users())),
)


def update_user(db: Connection, user_id: int, *, was_hidden: bool) -> None:
    """The user's name and opt-out as they are now, in his rating and in everybody's rank."""
    own = tables.user.c
    now = db.execute(select(own.name, own.ratings_opt_out).where(own.user_id == user_id)).one()
    named = update(tables.rating).where(_R.user_id == user_id)
    db.execute(named.values(name=now.name, name_folded=names.fold(now.name)))
    if now.ratings_opt_out != was_hidden:
        _rerank(db, user_id, is_hidden=now.ratings_opt_out)


def _rerank(db: Connection, user_id: int, *, is_hidden: bool) -> None:
    """Whoever stands below moves up by one place, or down."""
    rows = select(_R.lower_bound).where(_R.user_id == user_id, _R.last_period.is_not(None))
    own = db.execute(rows).scalar_one_or_none()
    if own is None:
        return
    step = -1 if is_hidden else 1
    below = update(tables.rating).where(_R.rank.is_not(None), _R.lower_bound < own)
    db.execute(below.where(or_(_R.user_id.is_(None), _R.user_id != user_id)).values(rank=_R.rank + step))
    above = select(func.count()).where(IS_LISTED, _R.lower_bound > own).scalar_subquery()
    rank = null() if is_hidden else db.execute(select(above)).scalar_one() + 1
    db.execute(update(tables.rating).where(_R.user_id == user_id).values(rank=rank))


def select_rating(user_id: int) -> Select[tuple[int]]:
    """The id of the user's rating, when there is one that may be shown to somebody."""
    return select(_R.rating_id).where(
        _R.user_id == user_id, _R.last_period.is_not(None), not_(_R.merged_into.is_not(None))
    )
