"""The history of ratings: by day, by period played, and as of a day."""

from collections.abc import Sequence
from datetime import date, timedelta
from typing import Annotated, Any

from msgspec import Meta
from sqlalchemy import Connection, and_, func, select

from silverball.kit.errors import Invalid
from silverball.kit.http.query import PageNumber, Query
from silverball.rules.ratings import formulas
from silverball.service.access import AuthenticatedCaller
from silverball.service.federation.reads import records as federation
from silverball.service.pages import PageRows, count_rows_before
from silverball.service.ratings.reads import ratings as reads
from silverball.service.ratings.reads.ratings import IDS_MAX, CurrentPeriod
from silverball.store import tables
from silverball.store.published_ratings import PUBLISHED
from silverball_wire.base import Id
from silverball_wire.ratings import IfpaInfo, Rating, RatingBundle, RatingHistoryPoint, RatingRevision

HISTORY_DAYS = 365
PER_PAGE = 100
PER_PAGE_MAX = 500
IDS_WITH_DATE_MAX = 25
_R, _V = PUBLISHED.c, tables.rating_revision.c


class HistoryQuery(Query, frozen=True, kw_only=True):
    """Parameters of GET /api/ifpa/{ifpaId}/rating-history. Source: ratings.md A.6."""

    limit: Annotated[int, Meta(ge=1, le=PER_PAGE_MAX)] = PER_PAGE
    page: PageNumber = 1


class IfpaQuery(Query, frozen=True, kw_only=True):
    """Parameters of GET /api/ratings/ifpa. Source: interface 4.7 and 8."""

    ifpa_ids: Annotated[tuple[Id, ...], Meta(max_length=IDS_MAX)] = ()
    date: Annotated[str, Meta(max_length=10)] | None = None
    """Day of which the ratings are asked, as `2026-03-05`; without it, now."""


def rating_bundle(
    db: Connection, kind: str, holder_id: int, viewer: AuthenticatedCaller | None
) -> RatingBundle:
    """A rating with one year of its history. Raises NotFound and Invalid."""
    rating = reads.find_rating(db, kind, holder_id, viewer)
    info = None
    # The rating holds no number that is hidden from this viewer.
    if rating.ifpa_id is not None:
        ranks = federation.ranks_by_ifpa(db, [rating.ifpa_id]).get(rating.ifpa_id)
        info = None if ranks is None else IfpaInfo(rank=ranks.rank, womens_rank=ranks.womens_rank)
    return RatingBundle(rating=rating, rating_history=history_points(db, rating.rating_id), ifpa_info=info)


def history_points(db: Connection, rating_id: int) -> tuple[RatingHistoryPoint, ...]:
    """One point for each day of the last year, oldest first. RD grows between periods."""
    at = reads.current_period(db)
    if at is None:
        return ()
    begins = at.day - timedelta(days=HISTORY_DAYS)
    before = select(func.max(_V.period_date)).where(
        _V.rating_id == rating_id, _V.period_date <= begins.isoformat()
    )
    rows = (
        select(_V.period_date, _V.rating, _V.rd)
        .where(_V.rating_id == rating_id, _V.period_date >= func.coalesce(before.scalar_subquery(), ""))
        .order_by(_V.period_date)
        .limit(HISTORY_DAYS + 2)
    )
    return tuple(
        _daily_points(
            [(date.fromisoformat(day), rating, rd) for day, rating, rd in db.execute(rows)], begins, at
        )
    )


def _daily_points(
    revisions: Sequence[tuple[date, float, float]], begins: date, at: CurrentPeriod
) -> list[RatingHistoryPoint]:
    """One point a day; each revision holds until the next one."""
    points: list[RatingHistoryPoint] = []
    ends = [played for played, _, _ in revisions[1:]] + [at.day + timedelta(days=1)]
    for (played, rating, rd), end in zip(revisions, ends, strict=False):
        day = max(played, begins)
        while day < end:
            idle = formulas.deviation_after(rd, (day - played).days, at.parameters) if day > played else rd
            points.append(
                RatingHistoryPoint(
                    rating_period=day.isoformat(),
                    rating=formulas.round_half_up(rating),
                    upper_bound=formulas.round_half_up(rating + 2 * idle),
                    lower_bound=formulas.round_half_up(rating - 2 * idle),
                )
            )
            day += timedelta(days=1)
    return points


def revisions_page(
    db: Connection, ifpa_id: int, query: HistoryQuery, viewer: AuthenticatedCaller | None
) -> PageRows[RatingRevision]:
    """One page of the periods that the holder of this number played, newest first. Raises NotFound."""
    rating_id = reads.find_rating(db, "ifpa", ifpa_id, viewer).rating_id
    own = _V.rating_id == rating_id
    total = db.execute(select(func.count()).select_from(tables.rating_revision).where(own)).scalar_one()
    columns = (_V.rating_revision_id, _V.rating_id, _V.period_date, _V.rating, _V.rd, _V.delta)
    counts = (_V.game_count, _V.win_count, _V.loss_count, _V.result_count)
    rows = select(*columns, *counts).where(own).order_by(_V.period_date.desc())
    rows = rows.limit(query.limit).offset(count_rows_before(query.page, query.limit, total))
    return PageRows([_revision_item(row) for row in db.execute(rows)], total)


def _revision_item(row: Sequence[Any]) -> RatingRevision:
    revision_id, rating_id, day, rating, rd, delta, games, wins, losses, results = row
    return RatingRevision(
        rating_revision_id=revision_id,
        rating_id=rating_id,
        rating_period=day,
        rating=formulas.round_half_up(rating),
        rd=formulas.round_half_up(rd),
        rating_class=formulas.rating_class(rating),
        delta=None if delta is None else reads.two_decimals(delta),
        game_count=games,
        win_count=wins,
        loss_count=losses,
        result_count=results,
        efficiency_percent=reads.efficiency(wins, results),
    )


def ratings_by_ifpa(
    db: Connection, query: IfpaQuery, viewer: AuthenticatedCaller | None
) -> tuple[Rating, ...]:
    """Ratings by federation number, in the order of the query, now or as of a day.

    Numbers without a rating are left out. Raises Invalid for text that is no day, for a day that is not
    rated yet, and for too many ids together with a day.
    """
    wanted = and_(_R.ifpa_id.in_(query.ifpa_ids), reads.is_findable_by(viewer))
    if query.date is None:
        ratings = reads.visible_ratings(db, wanted, viewer)
    else:
        ratings = _ratings_as_of(db, wanted, _requested_day(db, query), viewer)
    place = {ifpa_id: n for n, ifpa_id in reversed(list(enumerate(query.ifpa_ids)))}
    return tuple(sorted(ratings, key=lambda rating: place.get(rating.ifpa_id or 0, 0)))


def _requested_day(db: Connection, query: IfpaQuery) -> date:
    if len(query.ifpa_ids) > IDS_WITH_DATE_MAX:
        sentence = (
            f"The ifpa ids field must not have more than {IDS_WITH_DATE_MAX} items when a date is given."
        )
        raise Invalid({"ifpaIds": [sentence]})
    text = query.date or ""
    try:
        day = date.fromisoformat(text)
    except ValueError as error:
        raise Invalid({"date": ["The date field must match the format Y-m-d."]}) from error
    if day.isoformat() != text:
        raise Invalid({"date": ["The date field must match the format Y-m-d."]})
    at = reads.current_period(db)
    if at is None or day > at.day:
        known = "Nothing is rated yet." if at is None else f"Ratings are known up to {at.day}."
        raise Invalid({"date": [f"The date field must not be after the latest rating period. {known}"]})
    return day


def _ratings_as_of(
    db: Connection, wanted: Any, day: date, viewer: AuthenticatedCaller | None
) -> list[Rating]:
    """Each rating's last revision up to a day, with the sums up to it. Ranks exist for today only."""
    at = reads.current_period(db)
    if at is None:
        return []
    holder = (_R.rating_id, _R.user_id, _R.ifpa_id, _R.name)
    sums = (_V.game_count, _V.win_count, _V.loss_count, _V.result_count)
    so_far = (
        select(
            _V.rating_id,
            func.min(_V.period_date).label("first"),
            func.max(_V.period_date).label("last"),
            *(func.sum(column).label(column.name) for column in sums),
        )
        .where(_V.period_date <= day.isoformat())
        .where(_V.rating_id.in_(select(_R.rating_id).where(wanted)))
        .group_by(_V.rating_id)
        .subquery()
    )
    rows = (
        select(*holder, _V.rating, _V.rd, _V.delta, *(so_far.c[column.name] for column in sums))
        .add_columns(so_far.c.first, so_far.c.last)
        .join(tables.rating_revision, _V.rating_id == _R.rating_id)
        .join(so_far, and_(so_far.c.rating_id == _V.rating_id, so_far.c.last == _V.period_date))
        .where(wanted, reads.is_visible_to(viewer))
        .order_by(_R.rating_id)
    )
    period = CurrentPeriod(day, at.parameters, at.percentiles)
    values = [
        (*identity, *map(_int_or_none, (games, wins, losses, results)), first, last, None)
        for *identity, games, wins, losses, results, first, last in db.execute(rows)
    ]
    return reads.rating_items(db, values, period, viewer)


def _int_or_none(value: Any) -> int | None:
    # PostgreSQL returns the sum of integers as a decimal.
    return None if value is None else int(value)
