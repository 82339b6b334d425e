"""Published ratings: one, several by their ids, pages of all. Source: ratings.md A.6."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import date, timedelta
from typing import Annotated, Any

from msgspec import Meta, Struct
from sqlalchemy import ColumnElement, Connection, Select, and_, case, func, literal, null, or_, select, true

from silverball.kit.errors import Invalid, NotFound
from silverball.kit.http.query import PageNumber, Query
from silverball.kit.values import convert
from silverball.rules.ratings import formulas
from silverball.rules.ratings.formulas import Parameters
from silverball.service.core import access
from silverball.service.core.access import AuthenticatedCaller
from silverball.service.core.calls import PageRows, count_rows_before, refuse_deep_pagination
from silverball.service.outlook.reads import federation
from silverball.service.tables import sheet
from silverball.store import tables
from silverball.store.database.conditions import is_among
from silverball.store.people import book, names, rating_days
from silverball.store.people.book import PUBLISHED
from silverball_wire.base import Id
from silverball_wire.ratings import (
    HeadToHead,
    IfpaInfo,
    Rating,
    RatingBundle,
    RatingComparison,
    RatingHistoryPoint,
    RatingRange,
    RatingRevision,
)
from silverball_wire.values import Number

PER_PAGE = 25
IDS_MAX = 200
HOLDER_TYPES = ("users", "ifpa")
WORDS_MAX = 10
_PUBLISHED, _RATING_PERIOD = PUBLISHED.c, tables.rating_period.c
# In the order in which `rating_item` unpacks them.
COLUMNS = (
    _PUBLISHED.rating_id,
    _PUBLISHED.user_id,
    _PUBLISHED.ifpa_id,
    _PUBLISHED.name,
    _PUBLISHED.rating,
    _PUBLISHED.rd,
    _PUBLISHED.delta,
    _PUBLISHED.game_count,
    _PUBLISHED.win_count,
    _PUBLISHED.loss_count,
    _PUBLISHED.result_count,
    _PUBLISHED.first_period,
    _PUBLISHED.last_period,
    _PUBLISHED.rank,
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
    rows = select(_RATING_PERIOD.period_date, _RATING_PERIOD.parameters, _RATING_PERIOD.percentiles).where(
        _RATING_PERIOD.is_current == true()
    )
    row = db.execute(rows).first()
    if row is None:
        return None
    parameters = formulas.DEFAULTS if row.parameters is None else convert(row.parameters, Parameters)
    return CurrentPeriod(date.fromisoformat(row.period_date), parameters, row.percentiles or {})


def is_visible_to(viewer: AuthenticatedCaller | None) -> ColumnElement[bool]:
    """Ratings that this viewer may see: without those of people who opted out (interface.md 2, row 20)."""
    if viewer is None or not (viewer.sees_everything or viewer.has_opt_outs):
        return rating_days.IS_LISTED
    is_rated = and_(_PUBLISHED.merged_into.is_(None), _PUBLISHED.last_period.is_not(None))
    return (
        is_rated
        if viewer.sees_everything
        else or_(rating_days.IS_LISTED, and_(is_rated, _PUBLISHED.user_id == viewer.user_id))
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
    rows = select(*COLUMNS).where(wanted, is_visible_to(viewer)).order_by(_PUBLISHED.rating_id)
    return rating_items(db, db.execute(rows), at, viewer)


def belongs_to(kind: str, holder_id: int) -> ColumnElement[bool]:
    """Whether the rating belongs to a user or federation number. Raises Invalid for any other kind."""
    if kind not in HOLDER_TYPES:
        raise Invalid({"type": ["The selected type is invalid."]})
    return (_PUBLISHED.user_id if kind == "users" else _PUBLISHED.ifpa_id) == holder_id


def is_findable_by(viewer: AuthenticatedCaller | None) -> ColumnElement[bool]:
    """Ratings that this viewer may find by number: without those of users who hide their number."""
    own = tables.user.c
    hiding = select(own.user_id).where(own.profile_opt_out == true())
    if viewer is not None and viewer.sees_everything:
        return true()
    if viewer is not None and viewer.has_opt_outs:
        hiding = hiding.where(own.user_id != viewer.user_id)
    return or_(_PUBLISHED.user_id.is_(None), _PUBLISHED.user_id.not_in(hiding))


def find_rating(db: Connection, kind: str, holder_id: int, viewer: AuthenticatedCaller | None) -> Rating:
    """The rating of a user or of a federation number. Raises NotFound, and Invalid for any other kind."""
    wanted = belongs_to(kind, holder_id)
    ratings = visible_ratings(db, wanted if kind == "users" else and_(wanted, is_findable_by(viewer)), viewer)
    if not ratings:
        raise NotFound("Rating", holder_id)
    return ratings[0]


def user_rating(db: Connection, user_id: int, viewer: AuthenticatedCaller | None) -> Rating | None:
    """The user's rating; None when there is none or it is hidden from this viewer."""
    ratings = visible_ratings(db, _PUBLISHED.user_id == user_id, viewer)
    return ratings[0] if ratings else None


def period_count(db: Connection, user_id: int, viewer: AuthenticatedCaller | None) -> int:
    """The number of periods that the user played; 0 when it is hidden from this viewer."""
    revision = tables.rating_revision.c
    rows = select(func.count()).select_from(tables.rating_revision)
    rows = rows.join(PUBLISHED, _PUBLISHED.rating_id == revision.rating_id)
    return int(db.execute(rows.where(_PUBLISHED.user_id == user_id, is_visible_to(viewer))).scalar_one())


def ratings_page(db: Connection, query: RatingsQuery, viewer: AuthenticatedCaller | None) -> PageRows[Rating]:
    """One page of the ratings in the query, or of all, by id."""
    holders: list[ColumnElement[bool]] = []
    if query.user_ids:
        holders.append(_PUBLISHED.user_id.in_(query.user_ids))
    if query.ifpa_ids:
        holders.append(and_(_PUBLISHED.ifpa_id.in_(query.ifpa_ids), is_findable_by(viewer)))
    wanted = or_(*holders) if holders else true()
    return _ordered_page(db, and_(wanted, is_visible_to(viewer)), [_PUBLISHED.rating_id], query.page, viewer)


def search_ratings(
    db: Connection, query: RatingSearchQuery, viewer: AuthenticatedCaller | None
) -> PageRows[Rating]:
    """One page of the ratings whose name contains every word: exact names first, then by rank."""
    key = names.name_key(query.query)
    words = key.split()[:WORDS_MAX]
    holds = [names.name_contains(db, _PUBLISHED.name_folded, word) for word in words]
    exactness = case((_PUBLISHED.name_folded == key, 0), (_begins_with(key), 1), else_=2)
    order = [exactness, _PUBLISHED.rank.is_(None), _PUBLISHED.rank, _PUBLISHED.rating_id]
    return _ordered_page(db, and_(*holds, is_visible_to(viewer)), order, query.page, viewer)


def _begins_with(key: str) -> ColumnElement[bool]:
    return func.substr(_PUBLISHED.name_folded, 1, len(key)) == literal(key)


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


HISTORY_DAYS = 365
HISTORY_PER_PAGE = 100
PER_PAGE_MAX = 500
IDS_WITH_DATE_MAX = 25
_RATING_REVISION = tables.rating_revision.c


class HistoryQuery(Query, frozen=True, kw_only=True):
    """Parameters of GET /api/ifpa/{ifpaId}/rating-history. Source: ratings.md A.6."""

    limit: Annotated[int, Meta(ge=1, le=PER_PAGE_MAX)] = HISTORY_PER_PAGE
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
    rating = find_rating(db, kind, holder_id, viewer)
    info = None
    # The rating holds no number that is hidden from this viewer.
    if rating.ifpa_id is not None:
        ranks = federation.ranks_by_ifpa(db, [rating.ifpa_id]).get(rating.ifpa_id)
        info = None if ranks is None else IfpaInfo(rank=ranks.rank, womens_rank=ranks.womens_rank)
    return RatingBundle(rating=rating, rating_history=history_points(db, rating.rating_id), ifpa_info=info)


def history_points(db: Connection, rating_id: int) -> tuple[RatingHistoryPoint, ...]:
    """One point for each day of the last year, oldest first. RD grows between periods."""
    at = current_period(db)
    if at is None:
        return ()
    begins = at.day - timedelta(days=HISTORY_DAYS)
    before = select(func.max(_RATING_REVISION.period_date)).where(
        _RATING_REVISION.rating_id == rating_id, _RATING_REVISION.period_date <= begins.isoformat()
    )
    rows = (
        select(_RATING_REVISION.period_date, _RATING_REVISION.rating, _RATING_REVISION.rd)
        .where(
            _RATING_REVISION.rating_id == rating_id,
            _RATING_REVISION.period_date >= func.coalesce(before.scalar_subquery(), ""),
        )
        .order_by(_RATING_REVISION.period_date)
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
    rating_id = find_rating(db, "ifpa", ifpa_id, viewer).rating_id
    own = _RATING_REVISION.rating_id == rating_id
    total = db.execute(select(func.count()).select_from(tables.rating_revision).where(own)).scalar_one()
    columns = (
        _RATING_REVISION.rating_revision_id,
        _RATING_REVISION.rating_id,
        _RATING_REVISION.period_date,
        _RATING_REVISION.rating,
        _RATING_REVISION.rd,
        _RATING_REVISION.delta,
    )
    counts = (
        _RATING_REVISION.game_count,
        _RATING_REVISION.win_count,
        _RATING_REVISION.loss_count,
        _RATING_REVISION.result_count,
    )
    rows = select(*columns, *counts).where(own).order_by(_RATING_REVISION.period_date.desc())
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
        delta=None if delta is None else two_decimals(delta),
        game_count=games,
        win_count=wins,
        loss_count=losses,
        result_count=results,
        efficiency_percent=efficiency(wins, results),
    )


def ratings_by_ifpa(
    db: Connection, query: IfpaQuery, viewer: AuthenticatedCaller | None
) -> tuple[Rating, ...]:
    """Ratings by federation number, in the order of the query, now or as of a day.

    Numbers without a rating are left out. Raises Invalid for text that is no day, for a day that is not
    rated yet, and for too many ids together with a day.
    """
    wanted = and_(_PUBLISHED.ifpa_id.in_(query.ifpa_ids), is_findable_by(viewer))
    if query.date is None:
        ratings = visible_ratings(db, wanted, viewer)
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
    at = current_period(db)
    if at is None or day > at.day:
        known = "Nothing is rated yet." if at is None else f"Ratings are known up to {at.day}."
        raise Invalid({"date": [f"The date field must not be after the latest rating period. {known}"]})
    return day


def _ratings_as_of(
    db: Connection, wanted: Any, day: date, viewer: AuthenticatedCaller | None
) -> list[Rating]:
    """Each rating's last revision up to a day, with the sums up to it. Ranks exist for today only."""
    at = current_period(db)
    if at is None:
        return []
    holder = (_PUBLISHED.rating_id, _PUBLISHED.user_id, _PUBLISHED.ifpa_id, _PUBLISHED.name)
    sums = (
        _RATING_REVISION.game_count,
        _RATING_REVISION.win_count,
        _RATING_REVISION.loss_count,
        _RATING_REVISION.result_count,
    )
    so_far = (
        select(
            _RATING_REVISION.rating_id,
            func.min(_RATING_REVISION.period_date).label("first"),
            func.max(_RATING_REVISION.period_date).label("last"),
            *(func.sum(column).label(column.name) for column in sums),
        )
        .where(_RATING_REVISION.period_date <= day.isoformat())
        .where(_RATING_REVISION.rating_id.in_(select(_PUBLISHED.rating_id).where(wanted)))
        .group_by(_RATING_REVISION.rating_id)
        .subquery()
    )
    rows = (
        select(
            *holder,
            _RATING_REVISION.rating,
            _RATING_REVISION.rd,
            _RATING_REVISION.delta,
            *(so_far.c[column.name] for column in sums),
        )
        .add_columns(so_far.c.first, so_far.c.last)
        .join(tables.rating_revision, _RATING_REVISION.rating_id == _PUBLISHED.rating_id)
        .join(
            so_far,
            and_(
                so_far.c.rating_id == _RATING_REVISION.rating_id,
                so_far.c.last == _RATING_REVISION.period_date,
            ),
        )
        .where(wanted, is_visible_to(viewer))
        .order_by(_PUBLISHED.rating_id)
    )
    period = CurrentPeriod(day, at.parameters, at.percentiles)
    values = [
        (*identity, *map(_int_or_none, (games, wins, losses, results)), first, last, None)
        for *identity, games, wins, losses, results, first, last in db.execute(rows)
    ]
    return rating_items(db, values, period, viewer)


def _int_or_none(value: Any) -> int | None:
    # PostgreSQL returns the sum of integers as a decimal.
    return None if value is None else int(value)


# Ratings side by side, with head-to-head records. Source: ratings.md D; interface.md 2, row 3.


COMPARE_IDS_MAX = 25
MEETING_PARTS = 4
_PLAYER = tables.player.c
Ids = Annotated[tuple[Id, ...], Meta(max_length=COMPARE_IDS_MAX)]


class CompareQuery(Query, frozen=True, kw_only=True):
    """Parameters of POST /api/ratings/compare. Source: interface 4.7."""

    user_ids: Ids = ()
    """Ids of the accounts to compare."""
    ifpa_ids: Ids = ()
    player_ids: Ids = ()
    """Ids of the players to compare, by the accounts that they were claimed by."""


class PairRecord(Struct):
    """The results of one rating against another."""

    wins: int = 0
    losses: int = 0
    draws: int = 0
    last_played: str = ""


def comparison(db: Connection, query: CompareQuery, viewer: AuthenticatedCaller | None) -> RatingComparison:
    """The ratings of these people, by id, and their records against each other.

    People without a rating are left out. Raises Invalid for a person who is named twice.
    """
    at = current_period(db)
    if at is None:
        return RatingComparison(
            global_rating_range=_rating_range(db), global_rating_percentiles={}, ratings=(), records=()
        )
    ids = _selected_rating_ids(db, query, viewer)
    rows = db.execute(
        select(*COLUMNS).where(_PUBLISHED.rating_id.in_(ids)).order_by(_PUBLISHED.rating_id)
    ).all()
    return RatingComparison(
        global_rating_range=_rating_range(db),
        global_rating_percentiles=at.percentiles,
        ratings=tuple(rating_items(db, rows, at, viewer)),
        records=tuple(_head_to_heads(db, rows, at)),
    )


def _selected_rating_ids(
    db: Connection, query: CompareQuery, viewer: AuthenticatedCaller | None
) -> list[int]:
    """Ids of the selected ratings that the viewer may see, in order."""
    conditions: dict[str, ColumnElement[bool]] = {
        "userIds": _PUBLISHED.user_id.in_(query.user_ids),
        "ifpaIds": and_(_PUBLISHED.ifpa_id.in_(query.ifpa_ids), is_findable_by(viewer)),
        "playerIds": _belongs_to_players(db, query.player_ids),
    }
    selected_by: dict[int, str] = {}
    for parameter, wanted in conditions.items():
        rows = select(_PUBLISHED.rating_id, _PUBLISHED.name).where(wanted, is_visible_to(viewer))
        for rating_id, holder in db.execute(rows.order_by(_PUBLISHED.rating_id)):
            if rating_id in selected_by:
                sentence = f"{holder} is in {selected_by[rating_id]} already. Name each player once."
                raise Invalid({parameter: [sentence]})
            selected_by[rating_id] = parameter
    return sorted(selected_by)


def _belongs_to_players(db: Connection, player_ids: Sequence[int]) -> ColumnElement[bool]:
    """Ratings of these players: by claiming user, else IFPA number, else name in the book."""
    columns = (_PLAYER.claimed_by, _PLAYER.ifpa_id, _PLAYER.organizer_id, _PLAYER.name)
    rows = db.execute(select(*columns).where(_PLAYER.player_id.in_(player_ids))).all()
    wanted: list[ColumnElement[bool]] = [_PUBLISHED.rating_id.in_(())]
    for claimed_by, ifpa_id, organizer_id, name in rows:
        if claimed_by is not None:
            wanted.append(_PUBLISHED.user_id == claimed_by)
        elif ifpa_id is not None:
            wanted.append(_PUBLISHED.ifpa_id == ifpa_id)
        else:
            wanted.append(
                and_(_PUBLISHED.organizer_id == organizer_id, _PUBLISHED.name_key == names.name_key(name))
            )
    return or_(*wanted)


def _rating_range(db: Connection) -> RatingRange:
    """The lowest and the highest listed rating; without any, a newcomer's rating."""
    # Nearly always all are in the table itself, whose index has the first and the last.
    own = _PUBLISHED if book.are_staged_ratings_shown(db) else tables.rating.c
    rows = select(own.rating).where(rating_days.is_listed(own)).limit(1)
    lowest = db.execute(rows.order_by(own.rating)).scalar_one_or_none()
    highest = db.execute(rows.order_by(own.rating.desc())).scalar_one_or_none()
    newcomer = formulas.DEFAULTS.rating_default
    return RatingRange(
        min=newcomer if lowest is None else round(lowest, 2),
        max=newcomer if highest is None else round(highest, 2),
    )


def _head_to_heads(db: Connection, rows: Sequence[Any], at: CurrentPeriod) -> list[HeadToHead]:
    by_id = {row.rating_id: row for row in rows}
    records = _pair_records(db, by_id)
    return [
        HeadToHead(
            rating_id=rating_id,
            opponent_rating_id=opponent_id,
            game_count=record.wins + record.losses + record.draws,
            win_count=record.wins,
            loss_count=record.losses,
            draw_count=record.draws,
            result_count=record.wins + record.losses + record.draws,
            efficiency_percent=efficiency(record.wins, record.wins + record.losses + record.draws),
            expected_win_probability=_win_probability(by_id[rating_id], by_id[opponent_id], at),
            last_played=record.last_played,
        )
        for (rating_id, opponent_id), record in sorted(records.items())
    ]


def _pair_records(db: Connection, by_id: Mapping[int, Any]) -> dict[tuple[int, int], PairRecord]:
    """(rating id, opponent's rating id) -> record, in both directions, summed over all periods."""
    merged_rows = select(_PUBLISHED.rating_id, _PUBLISHED.merged_into).where(
        _PUBLISHED.merged_into.in_(by_id.keys())
    )
    merged = {row.rating_id: row.merged_into for row in db.execute(merged_rows)}
    ids = [*by_id, *merged]
    rows = select(_RATING_REVISION.rating_id, _RATING_REVISION.period_date, _RATING_REVISION.meetings)
    rows = rows.where(_RATING_REVISION.rating_id.in_(ids), _RATING_REVISION.meetings.is_not(None)).order_by(
        _RATING_REVISION.period_date
    )
    records: dict[tuple[int, int], PairRecord] = {}
    for stored_id, day, meetings in db.execute(rows):
        rating_id = merged.get(stored_id, stored_id)
        for start in range(0, len(meetings), MEETING_PARTS):
            stored_opponent_id, wins, losses, draws = meetings[start : start + MEETING_PARTS]
            opponent_id = merged.get(stored_opponent_id, stored_opponent_id)
            if opponent_id in by_id and opponent_id != rating_id:
                record = records.setdefault((rating_id, opponent_id), PairRecord())
                record.wins += wins
                record.losses += losses
                record.draws += draws
                record.last_played = day
    return records


def _win_probability(row: Any, opponent: Any, at: CurrentPeriod) -> float:
    return formulas.win_probability(
        row.rating, _current_rd(row, at), opponent.rating, _current_rd(opponent, at)
    )


def _current_rd(row: Any, at: CurrentPeriod) -> float:
    days = (at.day - date.fromisoformat(row.last_period)).days
    return formulas.deviation_after(row.rd, days, at.parameters)


# Ratings as seeds of a tournament. Source: formats, section 4.


_ENTRANT = tables.entrant.c


def seed_numbers(db: Connection, tournament_id: int, *, by_bound: bool) -> dict[int, float]:
    """Player id -> the negated rating, or lower bound, so that lower is better.

    Players without a rating are left out, and so are those who hide theirs: a seed would reveal it.
    """
    number = _PUBLISHED.lower_bound if by_bound else _PUBLISHED.rating
    columns = (_PLAYER.player_id, _PLAYER.organizer_id, _PLAYER.name, _PLAYER.claimed_by, _PLAYER.ifpa_id)
    rows = select(*columns).join(tables.entrant, _ENTRANT.player_id == _PLAYER.player_id)
    players = db.execute(rows.where(_ENTRANT.tournament_id == tournament_id)).all()
    user_ids = [player.claimed_by for player in players if player.claimed_by is not None]
    ifpa_ids = [player.ifpa_id for player in players if player.ifpa_id is not None]
    books = {player.organizer_id for player in players}
    keys = {names.name_key(player.name) for player in players}
    wanted = or_(
        _PUBLISHED.user_id.in_(user_ids),
        _PUBLISHED.ifpa_id.in_(ifpa_ids),
        and_(_PUBLISHED.organizer_id.in_(books), _PUBLISHED.name_key.in_(keys)),
    )
    holder = (_PUBLISHED.user_id, _PUBLISHED.ifpa_id, _PUBLISHED.organizer_id, _PUBLISHED.name_key)
    number_by_holder = _numbers_by_holder(
        db.execute(select(*holder, number).where(rating_days.IS_LISTED, wanted))
    )
    seeds: dict[int, float] = {}
    for player_id, organizer_id, name, user_id, ifpa_id in players:
        if user_id is not None:
            key: Any = ("user", user_id)
        elif ifpa_id is not None:
            key = ("ifpa", ifpa_id)
        else:
            key = (organizer_id, names.name_key(name))
        if key in number_by_holder:
            seeds[player_id] = -number_by_holder[key]
    return seeds


def _numbers_by_holder(rows: Iterable[Any]) -> dict[Any, float]:
    numbers: dict[Any, float] = {}
    for user_id, ifpa_id, organizer_id, name_key, number in rows:
        for key in (("user", user_id), ("ifpa", ifpa_id), (organizer_id, name_key)):
            if key[1] is not None and number is not None:
                numbers[key] = number
    return numbers


# CSV files of all ratings, line by line. Source: ratings.md E.
#
# Rows are streamed from the database, so a file of any length takes little memory.


ROWS_AT_ONCE = 1000
REVISION_DAYS = 365
HEADER = "Name,User ID,IFPA ID,Rating,RD,Lower Bound,Last Rating Period (Data from: {day}),Rating class"
REVISION_HEADER = (
    "Rating ID,User ID,IFPA ID,Rating Period,Rating,RD,Lower Bound,Delta,Games,Wins,Losses,Results"
)
_USER = tables.user.c
# A hidden profile hides the federation number too.
_IFPA_ID = case((_USER.profile_opt_out == true(), null()), else_=_PUBLISHED.ifpa_id)


def rating_csv_lines(db: Connection) -> Iterator[str]:
    """Lines of `latest-ratings.csv`: all listed ratings by id. Empty before the first period."""
    at = current_period(db)
    if at is None:
        return
    yield HEADER.format(day=at.day.isoformat()) + "\n"
    rows = select(
        _PUBLISHED.name,
        _PUBLISHED.user_id,
        _IFPA_ID,
        _PUBLISHED.rating,
        _PUBLISHED.rd,
        _PUBLISHED.last_period,
    ).select_from(PUBLISHED)
    rows = rows.outerjoin(tables.user, _USER.user_id == _PUBLISHED.user_id).where(rating_days.IS_LISTED)
    for name, user_id, ifpa_id, rating, rd, last in _stream_rows(db, rows.order_by(_PUBLISHED.rating_id)):
        lower = formulas.lower_bound(rating, rd)
        numbers = (f"{rating:.2f}", f"{rd:.2f}", f"{lower:.2f}")
        class_ = formulas.rating_class(rating)
        yield sheet.raw_line((sheet.QuotedText(name), user_id, ifpa_id, *numbers, last, class_))


def revision_csv_lines(db: Connection) -> Iterator[str]:
    """Lines of `latest-rating-revisions.csv`: the revisions of one year, oldest first."""
    at = current_period(db)
    if at is None:
        return
    yield REVISION_HEADER + "\n"
    counts = (
        _RATING_REVISION.game_count,
        _RATING_REVISION.win_count,
        _RATING_REVISION.loss_count,
        _RATING_REVISION.result_count,
    )
    begins = (at.day - timedelta(days=REVISION_DAYS)).isoformat()
    rows = (
        select(
            _PUBLISHED.rating_id,
            _PUBLISHED.user_id,
            _IFPA_ID,
            _RATING_REVISION.period_date,
            _RATING_REVISION.rating,
            _RATING_REVISION.rd,
            _RATING_REVISION.delta,
            *counts,
        )
        .select_from(tables.rating_revision)
        .join(PUBLISHED, _PUBLISHED.rating_id == _RATING_REVISION.rating_id)
        .outerjoin(tables.user, _USER.user_id == _PUBLISHED.user_id)
        .where(rating_days.IS_LISTED, _RATING_REVISION.period_date > begins)
        .order_by(_RATING_REVISION.period_date, _RATING_REVISION.rating_id)
    )
    for rating_id, user_id, ifpa_id, day, rating, rd, delta, *sums in _stream_rows(db, rows):
        lower = formulas.lower_bound(rating, rd)
        numbers = (
            f"{rating:.2f}",
            f"{rd:.2f}",
            f"{lower:.2f}",
            None if delta is None else two_decimals(delta),
        )
        yield sheet.raw_line((rating_id, user_id, ifpa_id, day, *numbers, *sums))


def _stream_rows(db: Connection, rows: Select[Any]) -> Iterator[Any]:
    return iter(db.execute(rows, execution_options={"yield_per": ROWS_AT_ONCE}))
