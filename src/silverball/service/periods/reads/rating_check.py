"""Verification of ratings: each day is rated again from the revisions before it, without a write.

A day is compared with what follows from its results, from the claims and numbers of today, and from the
stored ratings before it; so a check may begin on any day, and a fault is named on the day where it is.
"""

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import date, timedelta
from functools import partial
from itertools import chain
from typing import Any

import msgspec
from msgspec import Struct
from sqlalchemy import Connection, RowMapping, func, select

from silverball.kit.values import convert
from silverball.rules.ratings import recount, seats
from silverball.rules.ratings.formulas import Parameters
from silverball.rules.ratings.recount import ExpectedRevision, RatingBefore
from silverball.rules.ratings.seats import ALGORITHM_VERSION, IdentityRegister, RatedEvent, RatingDay
from silverball.service.journal.reads.row_checks import guarded
from silverball.service.periods.reads import periods, standing
from silverball.store import tables
from silverball.store.database.engine import Store
from silverball.store.people import book, names, rating_days
from silverball.store.tables.ratings import COUNTS

_RATING, _PERIOD, _REVISION = tables.rating.c, tables.rating_period.c, tables.rating_revision.c
STATUSES = (rating_days.WAITING, rating_days.PROCESSED, rating_days.DIRTY)
DAYS_AT_ONCE = 10
WAITS = "it waits to be rated"
INTERRUPTED = "a rating run has not come to its end"
IMPORTED = "its ratings came from a file"
LATER = "{day} is to be rated again, and later days depend on it"
CORRECTED = "it is to be rated again, as something has changed since"
OTHER_RULES = "it was rated by version {version} of the rules, today's is {today}"
OTHER_SETTINGS = "it was rated with other settings: {names}"
Progress = Callable[[int, int], None]


class DayReport(Struct, frozen=True):
    """The outcome for a day: a sentence for each fault, or why it was not compared."""

    day: date
    faults: Sequence[str] = ()
    not_compared: str | None = None


class RatingsState(Struct):
    """The state of a check: stored and recomputed ratings before the next day."""

    stored: dict[int, RatingBefore]
    # Those of them that should be others, because of a fault that was named; their own next days agree with
    # one or the other.
    recomputed: dict[int, RatingBefore]
    run: int
    # The first day that is to be rated again: what comes later depends on it.
    first_marked: date | None = None


def verify_ratings(
    store: Store,
    parameters: Parameters,
    *,
    begin: date | None = None,
    progress: Progress = lambda _done, _all: None,
) -> Iterator[DayReport]:
    """Verify the stored ratings day by day, oldest first, from a day on; last the ratings of today.

    Each few days have their own snapshot, so that nobody waits for a check.
    """
    with store.read() as db:
        days = _stored_days(db, begin)
    state: RatingsState | None = None
    for at in range(0, len(days), DAYS_AT_ONCE):
        some = days[at : at + DAYS_AT_ONCE]
        with store.read() as db:
            state = _current_state(db, state, some[0])
            reports = list(_day_reports(db, some, state, parameters))
        yield from reports
        progress(at + len(some), len(days))
    with store.read() as db:
        reports = list(_published_reports(db))
    yield from reports


def verify_in(db: Connection, parameters: Parameters) -> Iterator[DayReport]:
    """Verify all ratings as one transaction sees them."""
    days = _stored_days(db, None)
    if days:
        yield from _day_reports(db, days, _current_state(db, None, days[0]), parameters)
    yield from _published_reports(db)


def _stored_days(db: Connection, begin: date | None) -> list[date]:
    """The days to look at: all between the first and the last that were rated, and others with rows."""
    periods_by_day = dict(db.execute(select(_PERIOD.period_date, _PERIOD.status)).all())
    imported = select(func.max(_PERIOD.period_date)).where(_PERIOD.is_imported)
    imported_until = db.execute(imported).scalar_one_or_none() or ""
    revised = select(_REVISION.period_date).where(_REVISION.period_date > imported_until).distinct()
    found = {*periods_by_day, *db.execute(revised).scalars()}
    days = {day for day in map(_day_or_none, found) if day is not None}
    rated = sorted(day for day in days if periods_by_day.get(day.isoformat()) != rating_days.WAITING)
    if rated:
        days |= {rated[0] + timedelta(days=number) for number in range((rated[-1] - rated[0]).days)}
    return sorted(day for day in days if begin is None or day >= begin)


def _day_or_none(text: str) -> date | None:
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None


def _current_state(db: Connection, state: RatingsState | None, day: date) -> RatingsState:
    """The state before this day; read anew where a rating run has begun since."""
    run = db.execute(select(tables.rating_run.c.run)).scalar_one_or_none() or 0
    if state is not None and state.run == run:
        return state
    before = standing.standings_before(db, day)
    stored = {rated.rating_id: RatingBefore(rated.rating, rated.rd, rated.last_period) for rated in before}
    marked = select(func.min(_PERIOD.period_date)).where(
        _PERIOD.status == rating_days.DIRTY, _PERIOD.period_date < day.isoformat()
    )
    first_marked = db.execute(marked).scalar_one_or_none()
    return RatingsState(stored, {}, run, None if first_marked is None else date.fromisoformat(first_marked))


def _day_reports(
    db: Connection, days: Sequence[date], state: RatingsState, parameters: Parameters
) -> Iterator[DayReport]:
    first, last = days[0].isoformat(), days[-1].isoformat()
    rows = select(tables.rating_period).where(_PERIOD.period_date.between(first, last))
    period_rows = {row["period_date"]: row for row in db.execute(rows).mappings()}
    revision_rows: dict[str, dict[int, RowMapping]] = {}
    stored = select(tables.rating_revision).where(_REVISION.period_date.between(first, last))
    for row in db.execute(stored).mappings():
        revision_rows.setdefault(row["period_date"], {})[row["rating_id"]] = row
    events: dict[date, list[RatedEvent]] = {}
    sources = [source() for source in periods.SOURCES]
    for event in chain.from_iterable(source.events(db, days[0], days[-1]) for source in sources):
        events.setdefault(event.day, []).append(event)
    register = standing.load_register(db)
    for day in days:
        period, revisions = period_rows.get(day.isoformat()), revision_rows.get(day.isoformat(), {})
        if period is None:
            yield DayReport(day, [f"The period of {day} is missing."])
        else:
            reason = _reason_not_to_compare(period, state, parameters)
            faults = guarded(f"period of {day}", partial(_period_faults, period))
            if reason is None:
                compare = partial(_compare_day, day, period, revisions, events.get(day, ()), register, state)
                faults += guarded(f"day {day}", compare)
            yield DayReport(day, faults, reason)
        for rating_id, row in revisions.items():
            state.stored[rating_id] = RatingBefore(row["rating"], row["rd"], day)


def _reason_not_to_compare(period: RowMapping, state: RatingsState, parameters: Parameters) -> str | None:
    day = date.fromisoformat(period["period_date"])
    if period["is_imported"]:
        return IMPORTED
    if period["status"] == rating_days.DIRTY:
        state.first_marked = state.first_marked or day
        return CORRECTED
    if period["status"] == rating_days.WAITING:
        # Of a night that came later than its day was rated.
        state.first_marked = state.first_marked or day
        return WAITS
    if state.first_marked is not None:
        return LATER.format(day=state.first_marked)
    if period["fingerprint"] is None:
        return INTERRUPTED
    if period["algorithm_version"] in range(1, ALGORITHM_VERSION):
        return OTHER_RULES.format(version=period["algorithm_version"], today=ALGORITHM_VERSION)
    today, own = msgspec.to_builtins(parameters), period["parameters"] or {}
    other = [f"{name} {own.get(name)}" for name in today if own.get(name) != today[name]]
    return OTHER_SETTINGS.format(names=", ".join(other)) if other else None


def _period_faults(period: RowMapping) -> Iterator[str]:
    """Values of a period that contradict each other."""
    where = f"The period of {period['period_date']}"
    if period["status"] not in STATUSES:
        yield f"{where} has the status {period['status']!r}."
    if period["is_imported"] and period["fingerprint"] is not None:
        yield f"{where} is marked as imported (is_imported), but was rated here."
    version = period["algorithm_version"]
    if version is not None and version not in range(1, ALGORITHM_VERSION + 1):
        yield f"{where} names version {version} of the rules (algorithm_version), which does not exist."
    if period["percentiles"] is not None and not period["is_current"]:
        yield f"{where} has percentiles, and is not the current one."
    if period["staged_run"] is not None and not period["is_current"]:
        yield f"{where} shows a run (staged_run), and is not the current one."


def _compare_day(
    day: date,
    period: RowMapping,
    revisions: Mapping[int, RowMapping],
    events: Iterable[RatedEvent],
    register: IdentityRegister,
    state: RatingsState,
) -> Iterator[str]:
    played = seats.day_of_events(day, events, register)
    yield from _identity_faults(day, register)
    own = convert(period["parameters"], Parameters)
    yield from _count_faults(period, played, own)
    expected = recount.expected_revisions(state.stored, played, own)
    also = expected
    if state.recomputed.keys() & expected.keys():
        also = recount.expected_revisions({**state.stored, **state.recomputed}, played, own)
    for rating_id in sorted(expected.keys() | revisions.keys()):
        yield from _revision_faults(day, rating_id, revisions.get(rating_id), expected, also, state)


def _identity_faults(day: date, register: IdentityRegister) -> Iterator[str]:
    """People with results and without a rating, or with two: the run of today would store others."""
    for rating_id in sorted(register.created_ids):
        person = register.by_id.get(rating_id)
        if person is not None:
            known = (f"user {person.user_id}", f"IFPA number {person.ifpa_id}", f"name {person.name_key!r}")
            values = (person.user_id, person.ifpa_id, person.name_key)
            by = next((text for text, value in zip(known, values, strict=True) if value is not None), "name")
            yield (
                f"{person.name} ({by}) has results on {day}, and no rating is theirs: identity (user_id,"
                " ifpa_id, organizer_id, name_key) or merged_into of a rating was changed, or it was deleted."
            )
    for merged_id, surviving_id in sorted(register.merged.items()):
        yield f"Ratings {surviving_id} and {merged_id} are one person's by the results of {day}."
    register.created_ids.clear()
    register.merged.clear()


def _count_faults(period: RowMapping, played: RatingDay, parameters: Parameters) -> Iterator[str]:
    kinds = [kind for kind, _ in played.events]
    tournaments = kinds.count(periods.KIND)
    expected = {
        "tournament_count": tournaments,
        "challenge_count": 0,
        "ext_event_count": len(kinds) - tournaments,
        "result_count": played.result_count,
        "player_count": played.player_count,
        "fingerprint": played.fingerprint(parameters),
    }
    for name, value in expected.items():
        if period[name] != value:
            yield (
                f"The {name} of the period of {period['period_date']} is {period[name]}, by its results it is"
                f" {value}."
            )


def _revision_faults(
    day: date,
    rating_id: int,
    row: RowMapping | None,
    expected: Mapping[int, ExpectedRevision],
    also: Mapping[int, ExpectedRevision],
    state: RatingsState,
) -> Iterator[str]:
    where = f"The revision of rating {rating_id} on {day}"
    wanted = expected.get(rating_id)
    if row is None and wanted is not None:
        state.recomputed[rating_id] = RatingBefore(wanted.rating, wanted.rd, day)
        yield f"{where} is missing."
    elif row is not None and wanted is None:
        yield f"{where} is not expected: its person has no result on that day."
    elif row is not None and wanted is not None:
        found = recount.differences(row, wanted)
        if found and recount.differences(row, also[rating_id]):
            state.recomputed[rating_id] = RatingBefore(wanted.rating, wanted.rd, day)
            yield f"{where} is another one: {'; '.join(found)}."
        else:
            state.recomputed.pop(rating_id, None)


# The published ratings: each follows from the revisions of its person.


def _published_reports(db: Connection) -> Iterator[DayReport]:
    rated = select(tables.rating_period).where(_PERIOD.status != rating_days.WAITING)
    rows = db.execute(rated.order_by(_PERIOD.period_date)).mappings().all()
    if not rows:
        return
    period = rows[-1]
    newest, day = period["period_date"], date.fromisoformat(period["period_date"])
    if period["fingerprint"] is None and not period["is_imported"]:
        yield DayReport(day, not_compared=f"the ratings of today: {INTERRUPTED}")
        return
    current = [row["period_date"] for row in rows if row["is_current"]]
    if current != [newest]:
        listed = ", ".join(current) or "none"
        yield DayReport(day, [f"The current period (is_current) is {listed}, it should be {newest}."])
        return
    faults = guarded("current period", partial(_current_period_faults, db, period))
    faults += guarded("days", partial(_date_faults, db))
    faults += guarded("identities of the ratings", partial(_identity_row_faults, db))
    yield DayReport(day, [*faults, *guarded("ratings", partial(_rating_faults, db, day, period))])


def _current_period_faults(db: Connection, period: RowMapping) -> Iterator[str]:
    run = period["staged_run"]
    if run is not None and run != db.execute(select(func.max(tables.rating_run.c.run))).scalar_one_or_none():
        yield f"The period of {period['period_date']} shows run {run} (staged_run), not the newest one."
    percentiles = period["percentiles"]
    if percentiles is not None and list(percentiles.values()) != sorted(percentiles.values()):
        yield f"The percentiles of the period of {period['period_date']} are not in order."


def _date_faults(db: Connection) -> Iterator[str]:
    """Periods and revisions of days that are none."""
    for word, column in (("period", _PERIOD.period_date), ("revision", _REVISION.period_date)):
        for text in sorted(set(db.execute(select(column)).scalars())):
            if _day_or_none(text) is None:
                yield f"The period_date {text!r} of a {word} is no day."


def _rating_faults(db: Connection, day: date, period: RowMapping) -> Iterator[str]:
    """Ratings that do not follow from their revisions, and ranks that do not follow from the bounds."""
    parameters = convert(period["parameters"], Parameters)
    shown = book.PUBLISHED.c
    rows = db.execute(select(book.PUBLISHED).order_by(shown.rating_id)).mappings().all()
    expected = {rated.rating_id: rated for rated in standing.standings_before(db, day + timedelta(days=1))}
    hidden_ids = standing.hidden_rating_ids(db)
    bounds = sorted(
        kept_row["lower_bound"]
        for kept_row in rows
        if kept_row["lower_bound"] is not None and kept_row["rating_id"] not in hidden_ids
    )
    for kept_row in rows:
        rating_id = kept_row["rating_id"]
        rated = expected.get(rating_id)
        wanted: dict[str, Any] = dict.fromkeys(book.STANDING_COLUMNS)
        if rated is not None:
            grown = recount.grown_deviation(rated.rd, (day - rated.last_period).days, parameters)
            rank = None
            if rating_id not in hidden_ids and kept_row["lower_bound"] is not None:
                rank = 1 + len(bounds) - bisect_right(bounds, kept_row["lower_bound"])
            counts = zip(COUNTS, rated[6:], strict=True)
            wanted |= dict(zip(("rating", "rd", "delta"), rated[1:4], strict=True)) | dict(counts)
            wanted |= {
                "first_period": rated.first_period.isoformat(),
                "last_period": rated.last_period.isoformat(),
                "lower_bound": rated.rating - 2 * grown,
                "rank": rank,
            }
        for name, value in wanted.items():
            if _differs(kept_row[name], value):
                yield (
                    f"The {name} of rating {rating_id} ({kept_row['name']}) is {kept_row[name]},"
                    f" by its revisions it is {value}."
                )


def _differs(stored: Any, wanted: Any) -> bool:
    if isinstance(stored, float) and isinstance(wanted, float):
        return not abs(stored - wanted) <= recount.TOLERANCE
    return bool(stored != wanted)


def _identity_row_faults(db: Connection) -> Iterator[str]:
    """Ratings whose own values contradict each other, their account or its number."""
    confirmed = rating_days.all_confirmed(db).number_by_user
    users = dict(db.execute(select(tables.user.c.user_id, tables.user.c.name)).all())
    rows = db.execute(select(tables.rating).order_by(_RATING.rating_id)).mappings().all()
    merged_into = {kept_row["rating_id"]: kept_row["merged_into"] for kept_row in rows}
    imported = select(func.max(_PERIOD.period_date)).where(_PERIOD.is_imported)
    imported_until = db.execute(imported).scalar_one_or_none() or ""
    for kept_row in rows:
        where = f"Rating {kept_row['rating_id']} ({kept_row['name']})"
        if kept_row["name_folded"] not in (names.fold(kept_row["name"]), names.name_key(kept_row["name"])):
            yield f"{where} is searched by {kept_row['name_folded']!r} (name_folded), which is not its name."
        if kept_row["merged_into"] is not None:
            yield from _merged_faults(where, kept_row, merged_into)
        elif kept_row["user_id"] is not None:
            if kept_row["name"] != users.get(kept_row["user_id"]):
                yield f"{where} has another name than its user, {users.get(kept_row['user_id'])!r}."
            if kept_row["ifpa_id"] is not None and confirmed.get(kept_row["user_id"]) != kept_row["ifpa_id"]:
                yield f"{where} has the IFPA number {kept_row['ifpa_id']} (ifpa_id), which nobody confirmed."
        elif (
            kept_row["ifpa_id"] is None
            and (kept_row["first_period"] or "") > imported_until
            and (kept_row["name_key"] is None or kept_row["organizer_id"] is None)
        ):
            yield f"{where} is nobody's: it has no user_id, ifpa_id, or organizer_id with a name_key."
        is_named = kept_row["user_id"] is None and kept_row["ifpa_id"] is None
        has_key = kept_row["name_key"] is not None or kept_row["organizer_id"] is not None
        if has_key and not is_named:
            yield f"{where} has a user_id or ifpa_id, and is found by name (name_key, organizer_id) too."
        elif has_key and kept_row["name_key"] != names.name_key(kept_row["name"]):
            yield f"{where} is found by name {kept_row['name_key']!r} (name_key), not its own."


def _merged_faults(where: str, kept_row: RowMapping, merged_into: Mapping[int, int | None]) -> Iterator[str]:
    target = kept_row["merged_into"]
    if target not in merged_into or merged_into[target] is not None or target > kept_row["rating_id"]:
        yield f"{where} is merged into rating {target} (merged_into), which cannot be."
    kept = ("user_id", "ifpa_id", "organizer_id", "name_key", *book.STANDING_COLUMNS)
    left = [name for name in kept if kept_row[name] is not None]
    if left:
        yield f"{where} is merged into rating {target} (merged_into), and has {', '.join(left)} of its own."
