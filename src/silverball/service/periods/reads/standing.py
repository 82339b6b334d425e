"""The start of a rating run: the days to rate, the known identities, and all standings."""

from collections.abc import Iterable
from datetime import date
from typing import Any

from msgspec import Struct
from sqlalchemy import (
    Connection,
    and_,
    false,
    func,
    not_,
    or_,
    select,
    true,
)

from silverball.rules.ratings.seats import Identity, IdentityRegister, build_register
from silverball.rules.ratings.standing import CurrentRating
from silverball.store import tables
from silverball.store.people import rating_days
from silverball.store.tables.ratings import COUNTS

_RATING, _RATING_PERIOD, _RATING_REVISION = tables.rating.c, tables.rating_period.c, tables.rating_revision.c
# An interrupted run leaves its last day without a fingerprint, because its ratings are not published.
NEEDS_RATING = or_(
    _RATING_PERIOD.status.in_((rating_days.WAITING, rating_days.DIRTY)),
    and_(_RATING_PERIOD.fingerprint.is_(None), _RATING_PERIOD.is_imported == false()),
)


class DayRow(Struct, frozen=True):
    """A stored period."""

    day: date
    status: str
    fingerprint: str | None


def imported_until(db: Connection) -> date | None:
    """The day up to which ratings came from a file."""
    rows = select(func.max(_RATING_PERIOD.period_date)).where(_RATING_PERIOD.is_imported == true())
    return _date_or_none(db.execute(rows).scalar_one_or_none())


def current_day(db: Connection) -> date | None:
    """The period that all current ratings belong to; None before the first."""
    rows = select(_RATING_PERIOD.period_date).where(_RATING_PERIOD.is_current == true())
    return _date_or_none(db.execute(rows).scalar_one_or_none())


def first_period_day(db: Connection) -> date | None:
    """The day of the oldest stored period."""
    return _date_or_none(db.execute(select(func.min(_RATING_PERIOD.period_date))).scalar_one_or_none())


def days_to_rate(db: Connection, until: date) -> list[DayRow]:
    """The days from the first that needs rating, because all later days depend on it.

    They end with `until`, or with the last day that was rated before.
    """
    first = select(func.min(_RATING_PERIOD.period_date)).where(
        NEEDS_RATING, _RATING_PERIOD.period_date <= until.isoformat()
    )
    begins = db.execute(first).scalar_one_or_none()
    if begins is None:
        return []
    done = _RATING_PERIOD.status != rating_days.WAITING
    ends = db.execute(select(func.max(_RATING_PERIOD.period_date)).where(done)).scalar_one_or_none()
    last = max(ends or "", until.isoformat())
    return day_rows(db, date.fromisoformat(begins), date.fromisoformat(last))


def day_rows(db: Connection, first: date, last: date, *, is_locked: bool = False) -> list[DayRow]:
    """The periods from the first to the last day, oldest first. Locked periods cannot be marked meanwhile."""
    rows = select(_RATING_PERIOD.period_date, _RATING_PERIOD.status, _RATING_PERIOD.fingerprint).order_by(
        _RATING_PERIOD.period_date
    )
    rows = rows.where(
        _RATING_PERIOD.period_date >= first.isoformat(), _RATING_PERIOD.period_date <= last.isoformat()
    )
    periods = db.execute(rows.with_for_update() if is_locked else rows)
    return [DayRow(date.fromisoformat(day), status, fingerprint) for day, status, fingerprint in periods]


def load_register(db: Connection) -> IdentityRegister:
    """The register of all people who have a rating."""
    columns = (
        _RATING.rating_id,
        _RATING.name,
        _RATING.user_id,
        _RATING.ifpa_id,
        _RATING.organizer_id,
        _RATING.name_key,
    )
    rows = db.execute(select(*columns).where(_RATING.merged_into.is_(None)).order_by(_RATING.rating_id))
    next_id = db.execute(select(func.max(_RATING.rating_id))).scalar_one_or_none() or 0
    return build_register([Identity(*row) for row in rows.all()], next_id + 1)


def are_days_rated(db: Connection, first: date, until: date) -> bool:
    """Whether every day from the first to the last is rated and published, and none was corrected since."""
    rated_days = select(func.count()).where(
        not_(NEEDS_RATING),
        _RATING_PERIOD.period_date >= first.isoformat(),
        _RATING_PERIOD.period_date <= until.isoformat(),
    )
    return bool(db.execute(rated_days).scalar_one() == (until - first).days + 1)


def are_ratings_current_before(db: Connection, day: date) -> bool:
    """Whether the published ratings are those before this day."""
    done = select(func.max(_RATING_PERIOD.period_date)).where(
        _RATING_PERIOD.status != rating_days.WAITING, _RATING_PERIOD.period_date < day.isoformat()
    )
    newest = _date_or_none(db.execute(done).scalar_one_or_none())
    return newest is not None and newest == current_day(db)


def standings_before(db: Connection, day: date) -> list[CurrentRating]:
    """All standings before a day, by id: from the last revision of each rating and the sums of all."""
    so_far = (
        select(
            _RATING_REVISION.rating_id,
            func.min(_RATING_REVISION.period_date).label("first"),
            func.max(_RATING_REVISION.period_date).label("last"),
            *(func.sum(_RATING_REVISION[name]).label(name) for name in COUNTS),
        )
        .where(_RATING_REVISION.period_date < day.isoformat())
        .group_by(_RATING_REVISION.rating_id)
        .subquery()
    )
    columns = (
        _RATING_REVISION.rating_id,
        _RATING_REVISION.rating,
        _RATING_REVISION.rd,
        _RATING_REVISION.delta,
        so_far.c.first,
        so_far.c.last,
    )
    rows = (
        select(*columns, *(so_far.c[name] for name in COUNTS))
        .join(
            so_far,
            (so_far.c.rating_id == _RATING_REVISION.rating_id)
            & (so_far.c.last == _RATING_REVISION.period_date),
        )
        .join(tables.rating, _RATING.rating_id == _RATING_REVISION.rating_id)
        .where(_RATING.merged_into.is_(None))
        .order_by(_RATING_REVISION.rating_id)
    )
    return _as_standings(db.execute(rows).all())


def current_standings(db: Connection, _day: date) -> list[CurrentRating]:
    """The published standings, by id; quicker than `standings_before`, because no revision is read."""
    columns = (
        _RATING.rating_id,
        _RATING.rating,
        _RATING.rd,
        _RATING.delta,
        _RATING.first_period,
        _RATING.last_period,
    )
    rows = select(*columns, *(_RATING[name] for name in COUNTS))
    rows = rows.where(_RATING.merged_into.is_(None), _RATING.last_period.is_not(None)).order_by(
        _RATING.rating_id
    )
    return _as_standings(db.execute(rows).all())


def rating_names(db: Connection) -> dict[int, str]:
    """Rating id -> name, of all ratings that were not merged into others."""
    rows = select(_RATING.rating_id, _RATING.name).where(_RATING.merged_into.is_(None))
    return dict(db.execute(rows).all())


def _as_standings(rows: Iterable[Any]) -> list[CurrentRating]:
    return [
        CurrentRating(
            rating_id,
            rating,
            rd,
            delta,
            date.fromisoformat(first),
            date.fromisoformat(last),
            *(_int_or_none(games), _int_or_none(wins), _int_or_none(losses), _int_or_none(results)),
        )
        for rating_id, rating, rd, delta, first, last, games, wins, losses, results in rows
    ]


def hidden_rating_ids(db: Connection) -> set[int]:
    """Ratings of users who opted out; they have no rank."""
    rows = select(_RATING.rating_id).where(_RATING.user_id.in_(rating_days.hidden_users()))
    return set(db.execute(rows).scalars())


def _date_or_none(text: str | None) -> date | None:
    return None if text is None else date.fromisoformat(text)


def _int_or_none(value: Any) -> int | None:
    # PostgreSQL returns the sum of integers as a decimal.
    return None if value is None else int(value)
