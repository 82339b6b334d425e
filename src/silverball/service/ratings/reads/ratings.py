"""Published ratings: one, several by their ids, pages of all. Source: ratings.md A.6."""

from collections.abc import Collection, Iterable, Sequence
from datetime import date
from typing import Annotated, Any

from msgspec import Meta, Struct
from sqlalchemy import ColumnElement, Connection, and_, case, func, literal, or_, select, true

from silverball.kit.conversions import convert
from silverball.kit.errors import Invalid, NotFound
from silverball.kit.http.query import PageNumber, Query
from silverball.rules.ratings import formulas
from silverball.rules.ratings.formulas import Parameters
from silverball.service import access
from silverball.service.access import AuthenticatedCaller
from silverball.service.pages import PageRows, refuse_deep_pagination
from silverball.store import name_search, names, rating_days, tables
from silverball.store.among import is_among
from silverball.store.published_ratings import PUBLISHED
from silverball_wire.base import Id
from silverball_wire.ratings import Rating
from silverball_wire.values import Number

PER_PAGE = 25
IDS_MAX = 200
HOLDER_TYPES = ("users", "ifpa")
WORDS_MAX = 10
_R, _P = PUBLISHED.c, tables.rating_period.c
# In the order in which `rating_item` unpacks them.
COLUMNS = (
    _R.rating_id,
    _R.user_id,
    _R.ifpa_id,
    _R.name,
    _R.rating,
    _R.rd,
    _R.delta,
    _R.game_count,
    _R.win_count,
    _R.loss_count,
    _R.result_count,
    _R.first_period,
    _R.last_period,
    _R.rank,
)


class RatingsQuery(Query, frozen=True, kw_only=True):
    """Parameters of GET /api/ratings. Source: interface 4.7."""

    user_ids: Annotated[tuple[Id, ...], Meta(max_length=IDS_MAX)] = ()
    """Ids of the accounts whose ratings are asked."""
    ifpa_ids: Annotated[tuple[Id, ...], Meta(max_length=IDS_MAX)] = ()
    page: PageNumber = 1


class RatingSearchQuery(Query, frozen=True, kw_only=True):
    """Parameters of GET /api/ratings/search. Source: interface 4.7."""

    query: Annotated[str, Meta(max_length=100)]
    page: PageNumber = 1


class CurrentPeriod(Struct, frozen=True):
    """The period that all current ratings belong to, and the parameters it was computed with."""

    day: date
    parameters: Parameters
    percentiles: dict[str, Number]


def current_period(db: Connection) -> CurrentPeriod | None:
    """The current period; None before the first."""
    rows = select(_P.period_date, _P.parameters, _P.percentiles).where(_P.is_current == true())
    row = db.execute(rows).first()
    if row is None:
        return None
    parameters = formulas.DEFAULTS if row.parameters is None else convert(row.parameters, Parameters)
    return CurrentPeriod(date.fromisoformat(row.period_date), parameters, row.percentiles or {})


def is_visible_to(viewer: AuthenticatedCaller | None) -> ColumnElement[bool]:
    """Ratings that this viewer may see: without those of people who opted out (interface.md 2, row 20)."""
    if viewer is None or not (viewer.sees_everything or viewer.has_opt_outs):
        return rating_days.IS_LISTED
    is_rated = and_(_R.merged_into.is_(None), _R.last_period.is_not(None))
    return (
        is_rated
        if viewer.sees_everything
        else or_(rating_days.IS_LISTED, and_(is_rated, _R.user_id == viewer.user_id))
    )


def rating_item(
    values: Sequence[Any], at: CurrentPeriod, viewer: AuthenticatedCaller | None, hidden: Collection[int] = ()
) -> Rating:
    """The rating in a row of COLUMNS as of the current period.

    `hidden`: the users whose federation number this viewer may not see.
    """
    rating_id, user_id, ifpa_id, name, rating, rd, delta = values[:7]
    games, wins, losses, results, first, last, rank = values[7:]
    if user_id in hidden and not access.sees_hidden_details(viewer, user_id):
        ifpa_id = None
    now_rd = formulas.deviation_after(rd, (at.day - date.fromisoformat(last)).days, at.parameters)
    return Rating(
        rating_id=rating_id,
        user_id=user_id,
        ifpa_id=ifpa_id,
        name=name,
        rating=formulas.round_half_up(rating),
        rd=formulas.round_half_up(rd),
        calculated_rd=formulas.round_half_up(now_rd),
        rating_class=formulas.rating_class(rating),
        delta=None if delta is None else two_decimals(delta),
        game_count=games,
        win_count=wins,
        loss_count=losses,
        result_count=results,
        efficiency_percent=efficiency(wins, results),
        lower_bound=formulas.round_half_up(formulas.lower_bound(rating, now_rd)),
        first_rating_period=start_of_day(first),
        last_rating_period=start_of_day(last),
        rank=rank,
    )


def two_decimals(value: float) -> str:
    """The number with two decimals, and without a minus before zero."""
    text = f"{value:.2f}"
    return text.removeprefix("-") if text == "-0.00" else text


def start_of_day(day: str) -> str:
    """The start of a day in the published form of a moment."""
    return f"{day}T00:00:00.000000Z"


def efficiency(wins: int | None, results: int | None) -> Number:
    """The share of results that were wins; a draw is no win."""
    return (wins or 0) / results if results else 0


def rating_items(
    db: Connection, rows: Iterable[Sequence[Any]], at: CurrentPeriod, viewer: AuthenticatedCaller | None
) -> list[Rating]:
    """Rows of COLUMNS as ratings."""
    ratings = list(rows)
    user_ids = {user_id for _, user_id, *_ in ratings if user_id is not None}
    own = tables.user.c
    hiding = select(own.user_id).where(is_among(own.user_id, user_ids), own.profile_opt_out == true())
    hidden = set(db.execute(hiding).scalars()) if user_ids else set()
    return [rating_item(row, at, viewer, hidden) for row in ratings]


def visible_ratings(
    db: Connection, wanted: ColumnElement[bool], viewer: AuthenticatedCaller | None
) -> list[Rating]:
    """The ratings that meet the condition and that the viewer may see, by id. For few ratings."""
    at = current_period(db)
    if at is None:
        return []
    rows = select(*COLUMNS).where(wanted, is_visible_to(viewer)).order_by(_R.rating_id)
    return rating_items(db, db.execute(rows), at, viewer)


def belongs_to(kind: str, holder_id: int) -> ColumnElement[bool]:
    """Whether the rating belongs to a user or federation number. Raises Invalid for any other kind."""
    if kind not in HOLDER_TYPES:
        raise Invalid({"type": ["The selected type is invalid."]})
    return (_R.user_id if kind == "users" else _R.ifpa_id) == holder_id


def is_findable_by(viewer: AuthenticatedCaller | None) -> ColumnElement[bool]:
    """Ratings that this viewer may find by number: without those of users who hide their number."""
    own = tables.user.c
    hiding = select(own.user_id).where(own.profile_opt_out == true())
    if viewer is not None and viewer.sees_everything:
        return true()
    if viewer is not None and viewer.has_opt_outs:
        hiding = hiding.where(own.user_id != viewer.user_id)
    return or_(_R.user_id.is_(None), _R.user_id.not_in(hiding))


def find_rating(db: Connection, kind: str, holder_id: int, viewer: AuthenticatedCaller | None) -> Rating:
    """The rating of a user or of a federation number. Raises NotFound, and Invalid for any other kind."""
    wanted = belongs_to(kind, holder_id)
    ratings = visible_ratings(db, wanted if kind == "users" else and_(wanted, is_findable_by(viewer)), viewer)
    if not ratings:
        raise NotFound("Rating", holder_id)
    return ratings[0]


def user_rating(db: Connection, user_id: int, viewer: AuthenticatedCaller | None) -> Rating | None:
    """The user's rating; None when there is none or it is hidden from this viewer."""
    ratings = visible_ratings(db, _R.user_id == user_id, viewer)
    return ratings[0] if ratings else None


def period_count(db: Connection, user_id: int, viewer: AuthenticatedCaller | None) -> int:
    """The number of periods that the user played; 0 when it is hidden from this viewer."""
    revision = tables.rating_revision.c
    rows = select(func.count()).select_from(tables.rating_revision)
    rows = rows.join(PUBLISHED, _R.rating_id == revision.rating_id)
    return int(db.execute(rows.where(_R.user_id == user_id, is_visible_to(viewer))).scalar_one())


def ratings_page(db: Connection, query: RatingsQuery, viewer: AuthenticatedCaller | None) -> PageRows[Rating]:
    """One page of the ratings in the query, or of all, by id."""
    holders: list[ColumnElement[bool]] = []
    if query.user_ids:
        holders.append(_R.user_id.in_(query.user_ids))
    if query.ifpa_ids:
        holders.append(and_(_R.ifpa_id.in_(query.ifpa_ids), is_findable_by(viewer)))
    wanted = or_(*holders) if holders else true()
    return _ordered_page(db, and_(wanted, is_visible_to(viewer)), [_R.rating_id], query.page, viewer)


def search_ratings(
    db: Connection, query: RatingSearchQuery, viewer: AuthenticatedCaller | None
) -> PageRows[Rating]:
    """One page of the ratings whose name contains every word: exact names first, then by rank."""
    key = names.name_key(query.query)
    words = key.split()[:WORDS_MAX]
    holds = [name_search.name_contains(db, _R.name_folded, word) for word in words]
    exactness = case((_R.name_folded == key, 0), (_begins_with(key), 1), else_=2)
    order = [exactness, _R.rank.is_(None), _R.rank, _R.rating_id]
    return _ordered_page(db, and_(*holds, is_visible_to(viewer)), order, query.page, viewer)


def _begins_with(key: str) -> ColumnElement[bool]:
    return func.substr(_R.name_folded, 1, len(key)) == literal(key)


def _ordered_page(
    db: Connection,
    wanted: ColumnElement[bool],
    order: Sequence[Any],
    number: int,
    viewer: AuthenticatedCaller | None,
) -> PageRows[Rating]:
    refuse_deep_pagination(number, PER_PAGE)
    at = current_period(db)
    if at is None:
        return PageRows([], 0)
    total = db.execute(select(func.count()).select_from(PUBLISHED).where(wanted)).scalar_one()
    rows = select(*COLUMNS).where(wanted).order_by(*order)
    rows = rows.limit(PER_PAGE).offset(PER_PAGE * (number - 1))
    return PageRows(rating_items(db, db.execute(rows), at, viewer), total)
