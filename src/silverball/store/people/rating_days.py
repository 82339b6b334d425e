"""Marks on days that have to be rated again, and the visibility of ratings.

A day is marked in the transaction that changes one of its results; the next rating run finds the mark.
Nothing is rated here.
"""

from collections.abc import Collection
from datetime import UTC, date, datetime
from typing import Any

import msgspec
from msgspec import Struct
from sqlalchemy import (
    ColumnCollection,
    ColumnElement,
    Connection,
    Select,
    and_,
    bindparam,
    case,
    func,
    or_,
    select,
    text,
    update,
)

from silverball.rules.model.tournament import Tournament
from silverball.rules.registry import rated_types
from silverball.store import tables
from silverball.store.database.conditions import is_among
from silverball.store.people import book, names
from silverball.store.tables import confirmed_number, user
from silverball.store.types import Flag

WAITING = "waiting"
PROCESSED = "processed"
DIRTY = "dirty"
_R = book.PUBLISHED.c
_IS_HIDDEN = select(tables.user.c.ratings_opt_out).where(tables.user.c.user_id == bindparam("own_id"))
# The statement waits for a row that another transaction is writing, so that no mark is lost.
MARK_DAY = text(
    "INSERT INTO rating_period (period_date, status, is_current, is_imported)"
    " SELECT :day, 'waiting', :no, :no"
    " WHERE NOT EXISTS (SELECT 1 FROM rating_period WHERE is_imported = :yes AND period_date >= :day)"
    " ON CONFLICT (period_date) DO UPDATE SET"
    " status = CASE rating_period.status WHEN 'waiting' THEN 'waiting' ELSE 'dirty' END"
).bindparams(bindparam("no", value=False, type_=Flag), bindparam("yes", value=True, type_=Flag))

_BEGIN_RUN = text(
    "INSERT INTO rating_run (slot, run) VALUES (0, 1)"
    " ON CONFLICT (slot) DO UPDATE SET run = rating_run.run + 1 RETURNING run"
)


def begin_run(db: Connection) -> int:
    """Begin a rating run and return its number. A running one stops at its next transaction."""
    return int(db.execute(_BEGIN_RUN).scalar_one())


def rating_day(moment: datetime) -> date:
    """The rating period of a moment: its day in UTC."""
    return moment.astimezone(UTC).date()


def oldest_waiting_day(db: Connection) -> str | None:
    """The first day that waits for a rating run, or has to be rated again; None when there is none."""
    period = tables.rating_period.c
    waits = select(func.min(period.period_date)).where(period.status.in_([WAITING, DIRTY]))
    oldest: str | None = db.execute(waits).scalar_one()
    return oldest


def mark_days(db: Connection, days: Collection[date]) -> None:
    """Mark days whose results have changed, except days that came from a file."""
    for day in sorted(days):
        db.execute(MARK_DAY, {"day": day.isoformat()})


def mark_changed_tournament(db: Connection, before: Tournament | None, after: Tournament) -> None:
    """Mark the days on which a tournament was completed before a change and after it."""
    days = {
        rating_day(state.completed_at)
        for state in (before, after)
        if state is not None
        and state.status == "completed"
        and state.completed_at
        and state.type in rated_types()
    }
    mark_days(db, days)


def mark_tournament(db: Connection, tournament_id: int) -> None:
    """Mark the day of a stored tournament, if it is completed."""
    tournament = tables.tournament.c
    rows = select(tournament.completed_at).where(
        tournament.tournament_id == tournament_id,
        tournament.status == "completed",
        tournament.type.in_(rated_types()),
    )
    completed_at = db.execute(rows).scalar_one_or_none()
    if completed_at is not None:
        mark_days(db, [rating_day(completed_at)])


def mark_players(db: Connection, player_ids: Collection[int]) -> None:
    """Mark the first day of players whose identity has changed: all their results may count for others."""
    tournament, entrant = tables.tournament.c, tables.entrant.c
    counts = and_(tournament.status == "completed", tournament.type.in_(rated_types()))
    played = select(entrant.tournament_id).where(is_among(entrant.player_id, player_ids))
    # Conditions of their own would let SQLite go through the tournaments of all, in the order of their ends.
    first = func.min(case((counts, tournament.completed_at)))
    rows = select(first).where(tournament.tournament_id.in_(played))
    first_completed_at = db.execute(rows).scalar_one_or_none()
    if first_completed_at is not None:
        mark_days(db, [rating_day(first_completed_at)])


def hidden_users() -> Select[tuple[int]]:
    """Ids of the users who opted out of ratings."""
    return select(tables.user.c.user_id).where(tables.user.c.ratings_opt_out)


def is_listed(columns: "ColumnCollection[str, Any]") -> ColumnElement[bool]:
    """Whether a rating is listed, in these columns of it."""
    return and_(
        columns.merged_into.is_(None),
        columns.last_period.is_not(None),
        or_(columns.user_id.is_(None), columns.user_id.not_in(hidden_users())),
    )


IS_LISTED = is_listed(_R)


def update_user(db: Connection, user_id: int, *, was_hidden: bool) -> None:
    """Carry the user's name into their rating, and their opt-out into all ranks."""
    update_name(db, user_id)
    is_hidden = db.execute(_IS_HIDDEN, {"own_id": user_id}).scalar_one()
    if is_hidden != was_hidden:
        _rerank(db, user_id, is_hidden=is_hidden)


def update_name(db: Connection, user_id: int) -> None:
    """Carry the user's name into their rating."""
    name = db.execute(select(tables.user.c.name).where(tables.user.c.user_id == user_id)).scalar_one()
    own_rating = update(tables.rating).where(tables.rating.c.user_id == user_id)
    db.execute(own_rating.values(name=name, name_folded=names.fold(name)))


def settle_rank(db: Connection, user_id: int) -> None:
    """Carry the user's opt-out into all ranks, unless a rating run has done it."""
    book.lock_current_period(db)
    is_hidden = db.execute(_IS_HIDDEN, {"own_id": user_id}).scalar_one()
    found = db.execute(select(_R.rank).where(_R.user_id == user_id)).one_or_none()
    if found is not None and is_hidden == (found.rank is not None):
        _rerank(db, user_id, is_hidden=is_hidden)


def _rerank(db: Connection, user_id: int, *, is_hidden: bool) -> None:
    """Move every rating below the user's up by one rank, or down, and set the user's own rank."""
    book.lock_current_period(db)
    rows = select(_R.lower_bound).where(_R.user_id == user_id, _R.last_period.is_not(None))
    lower_bound = db.execute(rows).scalar_one_or_none()
    if lower_bound is None:
        return
    step = -1 if is_hidden else 1
    book.move_ranks_below(db, lower_bound, step, except_user_id=user_id)
    above = select(func.count()).where(IS_LISTED, _R.lower_bound > lower_bound)
    rank = None if is_hidden else db.execute(above).scalar_one() + 1
    book.store_rank(db, user_id, rank)


# Federation numbers that an administrator has confirmed for an account.
#
# Only these join a number's rating with an account's: everybody can type a number.


_CONFIRMED_NUMBER = confirmed_number.c


class ConfirmedNumbers(Struct, frozen=True):
    """Confirmed numbers and their accounts, in both directions."""

    number_by_user: dict[int, int] = msgspec.field(default_factory=dict)
    user_by_number: dict[int, int] = msgspec.field(default_factory=dict)
    name_by_user: dict[int, str] = msgspec.field(default_factory=dict)


def all_confirmed(db: Connection) -> ConfirmedNumbers:
    """Every confirmed number."""
    rows = select(_CONFIRMED_NUMBER.ifpa_id, _CONFIRMED_NUMBER.user_id, user.c.name).join(
        user, user.c.user_id == _CONFIRMED_NUMBER.user_id
    )
    confirmed = ConfirmedNumbers()
    for ifpa_id, user_id, name in db.execute(rows):
        confirmed.number_by_user[user_id] = ifpa_id
        confirmed.user_by_number[ifpa_id] = user_id
        confirmed.name_by_user[user_id] = name
    return confirmed


def number_of(db: Connection, user_id: int) -> int | None:
    """The number that is confirmed for this account."""
    return db.execute(
        select(_CONFIRMED_NUMBER.ifpa_id).where(_CONFIRMED_NUMBER.user_id == user_id)
    ).scalar_one_or_none()


def holder_of(db: Connection, ifpa_id: int) -> int | None:
    """The account that this number is confirmed for."""
    return db.execute(
        select(_CONFIRMED_NUMBER.user_id).where(_CONFIRMED_NUMBER.ifpa_id == ifpa_id)
    ).scalar_one_or_none()
