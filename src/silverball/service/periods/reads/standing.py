"""The start of a rating run: the days to rate, the known identities, and all standings."""

from collections.abc import Iterable
from datetime import date
from typing import Any, Literal

from msgspec import Struct
from sqlalchemy import (
    ColumnElement,
    Connection,
    Select,
    Subquery,
    and_,
    exists,
    false,
    func,
    not_,
    or_,
    select,
    true,
    union,
)

from silverball.kit.errors import NotAllowed, NotFound
from silverball.kit.http.query import PageNumber, Query
from silverball.rules.ratings.seats import Identity, IdentityRegister, build_register
from silverball.rules.ratings.standing import CurrentRating
from silverball.service.core.access import AuthenticatedCaller
from silverball.service.core.calls import PageRows, refuse_deep_pagination
from silverball.store import tables
from silverball.store.people import rating_days
from silverball.store.tables import confirmed_number, player, user
from silverball.store.tables.ratings import COUNTS
from silverball_wire import base
from silverball_wire.ratings import AccountNumber

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


PER_PAGE = 25


class NumberQuery(Query, frozen=True, kw_only=True):
    """Parameters of GET /api/federation-numbers."""

    status: Literal["waiting", "confirmed"] = "waiting"
    """Numbers that wait for a confirmation, or those that have one."""
    page: PageNumber = 1


def numbers_page(
    db: Connection, query: NumberQuery, viewer: AuthenticatedCaller | None
) -> PageRows[AccountNumber]:
    """Return a page of the list, by account. Raises NotAllowed for all but administrators."""
    if viewer is None or not viewer.is_admin:
        raise NotAllowed
    refuse_deep_pagination(query.page, PER_PAGE)
    first = (query.page - 1) * PER_PAGE
    if query.status == "confirmed":
        total = db.execute(select(func.count()).select_from(confirmed_number)).scalar_one()
        rows = _number_rows(_confirmed_pairs())
    else:
        total = _count_waiting(db)
        # The first pairs of each kind hold the first pairs of all: so nobody sorts them all.
        rows = _number_rows(_waiting_pairs(first + PER_PAGE))
    listed = db.execute(rows.order_by(user.c.user_id, "ifpa_id").limit(PER_PAGE).offset(first))
    return PageRows([_account_number(row) for row in listed], total)


def find_number(db: Connection, user_id: int, ifpa_id: int) -> AccountNumber:
    """The number of this account, as in the lists. Raises NotFound for an unknown account."""
    given = _given_in_profile(), _claimed()
    for pairs in (_confirmed_pairs(), union(*given).subquery()):
        rows = _number_rows(pairs)
        row = db.execute(rows.where(pairs.c.user_id == user_id, pairs.c.ifpa_id == ifpa_id)).first()
        if row is not None:
            return _account_number(row)
    return _unused_number(db, user_id, ifpa_id)


def _unused_number(db: Connection, user_id: int, ifpa_id: int) -> AccountNumber:
    """A number that the account neither gave nor claims, and that is not confirmed for it."""
    name = db.execute(select(user.c.name).where(user.c.user_id == user_id)).scalar_one_or_none()
    if name is None:
        raise NotFound("User", user_id)
    holder = select(confirmed_number.c.user_id).where(confirmed_number.c.ifpa_id == ifpa_id)
    return AccountNumber(
        user_id=user_id,
        name=name,
        ifpa_id=ifpa_id,
        in_profile=False,
        claimed_players=0,
        confirmed_at=None,
        confirmed_for=db.execute(holder).scalar_one_or_none(),
    )


def _given_in_profile() -> Select[Any]:
    """Each account with the number in its profile."""
    # Names that an import brought along are not accounts.
    return select(user.c.user_id, user.c.ifpa_id).where(
        user.c.ifpa_id.is_not(None), user.c.placeholder == false()
    )


def _claimed() -> Select[Any]:
    """Each account with each number of a player that it claims, as often as it claims one."""
    return (
        select(player.c.claimed_by.label("user_id"), player.c.ifpa_id)
        .join(user, user.c.user_id == player.c.claimed_by)
        .where(player.c.claimed_by.is_not(None), player.c.ifpa_id.is_not(None))
    )


def _waits(user_id: ColumnElement[int], ifpa_id: ColumnElement[int]) -> ColumnElement[bool]:
    """Whether the number is not confirmed for the account."""
    held = confirmed_number.c
    return ~exists().where(held.ifpa_id == ifpa_id, held.user_id == user_id)


def _waiting_pairs(count: int) -> Subquery:
    """At least the first pairs of account and number that wait for a confirmation, by account."""
    profile = _given_in_profile().where(_waits(user.c.user_id, user.c.ifpa_id))
    claimed = _claimed().where(_waits(player.c.claimed_by, player.c.ifpa_id)).distinct()
    firsts = (
        profile.order_by(user.c.user_id).limit(count).subquery(),
        claimed.order_by(player.c.claimed_by, player.c.ifpa_id).limit(count).subquery(),
    )
    return union(*(select(each.c.user_id, each.c.ifpa_id) for each in firsts)).subquery()


def _count_waiting(db: Connection) -> int:
    """The number of pairs that wait: of numbers in profiles, and of claimed ones that are in none."""
    profile = _given_in_profile().where(_waits(user.c.user_id, user.c.ifpa_id))
    is_in_profile = and_(user.c.placeholder == false(), func.coalesce(user.c.ifpa_id, 0) == player.c.ifpa_id)
    claimed = _claimed().where(not_(is_in_profile), _waits(player.c.claimed_by, player.c.ifpa_id)).distinct()
    counts = [db.execute(select(func.count()).select_from(each.subquery())) for each in (profile, claimed)]
    return sum(count.scalar_one() for count in counts)


def _confirmed_pairs() -> Subquery:
    return select(confirmed_number.c.user_id, confirmed_number.c.ifpa_id).subquery()


def _number_rows(pairs: Subquery) -> Select[Any]:
    """These accounts with these numbers, and whose they are confirmed to be."""
    held = confirmed_number.c
    is_given = and_(user.c.placeholder == false(), func.coalesce(user.c.ifpa_id, 0) == pairs.c.ifpa_id)
    claimed = select(func.count()).where(
        player.c.claimed_by == pairs.c.user_id, player.c.ifpa_id == pairs.c.ifpa_id
    )
    return (
        select(pairs.c.user_id, pairs.c.ifpa_id, is_given.label("in_profile"))
        .add_columns(claimed.scalar_subquery().label("players"), user.c.name, held.at)
        .add_columns(held.user_id.label("holder"))
        .join(user, user.c.user_id == pairs.c.user_id)
        .outerjoin(confirmed_number, held.ifpa_id == pairs.c.ifpa_id)
    )


def _account_number(row: Any) -> AccountNumber:
    is_own = row.holder == row.user_id
    return AccountNumber(
        user_id=row.user_id,
        name=row.name,
        ifpa_id=row.ifpa_id,
        in_profile=bool(row.in_profile),
        claimed_players=int(row.players),
        confirmed_at=base.iso(row.at) if is_own else None,
        confirmed_for=row.holder,
    )
