"""Store rating periods. The caller's transaction holds a period, its revisions and the standings."""

from collections.abc import Collection, Mapping, Sequence
from datetime import date, datetime, timedelta
from typing import Any

import msgspec
from msgspec import Struct
from sqlalchemy import (
    ColumnElement,
    Connection,
    and_,
    delete,
    false,
    func,
    insert,
    or_,
    select,
    true,
    update,
)

from silverball.kit.errors import Conflict
from silverball.rules.ratings.formulas import Parameters
from silverball.rules.ratings.seats import (
    ALGORITHM_VERSION,
    Identity,
    IdentityRegister,
    RatingDay,
    surviving_id,
)
from silverball.rules.ratings.standing import CurrentRating, RankedRatings, RatingUpdate
from silverball.service.periods.reads import standing
from silverball.store import tables
from silverball.store.database import slices
from silverball.store.database.conditions import ascending_batches
from silverball.store.people import book, names, rating_days
from silverball.store.people.book import SHOWN_RUN
from silverball.store.tables.ratings import COUNTS
from silverball.store.tournament import imports

SLOT = 0
_RATING, _RATING_PERIOD, _RATING_REVISION = tables.rating.c, tables.rating_period.c, tables.rating_revision.c
REVISION_COLUMNS = ("rating_id", "rating", "rd", "delta", *COUNTS, "meetings", "period_date")
STANDING_COLUMNS = ("rating", "rd", "delta", "first_period", "last_period", *COUNTS)
RANK_AT_ONCE = (
    "UPDATE rating SET lower_bound = ranked.lower_bound, rank = ranked.rank"
    " FROM unnest(%s::float8[], %s::int8[], %s::int8[]) AS ranked (lower_bound, rank, rating_id)"
    " WHERE rating.rating_id = ranked.rating_id"
)
_ENCODE = msgspec.json.Encoder().encode


class RunSuperseded(Exception):
    """Another run has begun, and this one must not store anything."""


class RatedDay(Struct, frozen=True):
    """A rated day: its results, their fingerprint, and the new revisions."""

    day: RatingDay
    # None for the last day of a run until its ratings are published: an interrupted run rates it again.
    fingerprint: str | None
    revisions: list[RatingUpdate]
    # Whether an earlier run stored revisions for the day.
    was_rated: bool


def require_current_run(db: Connection, run: int) -> None:
    """Raise RunSuperseded when another run has begun; lock out new runs until the commit."""
    rows = select(tables.rating_run.c.run).where(tables.rating_run.c.slot == SLOT).with_for_update()
    if db.execute(rows).scalar_one() != run:
        raise RunSuperseded


def create_days(db: Connection, first: date, last: date) -> None:
    """Create the missing rows of all days from the first to the last."""
    existing_days = {period.day for period in standing.day_rows(db, first, last)}
    days = (first + timedelta(days=n) for n in range((last - first).days + 1))
    rows = [
        {
            "period_date": day.isoformat(),
            "status": rating_days.WAITING,
            "is_current": False,
            "is_imported": False,
        }
        for day in days
        if day not in existing_days
    ]
    if rows:
        db.execute(insert(tables.rating_period), rows)


def mark_for_rerating(db: Connection, day: date) -> None:
    """Mark all rated days from this day on, whether or not their results changed."""
    rows = update(tables.rating_period).where(
        _RATING_PERIOD.period_date >= day.isoformat(),
        _RATING_PERIOD.status != rating_days.WAITING,
        _RATING_PERIOD.is_imported == false(),
    )
    db.execute(rows.values(status=rating_days.DIRTY, fingerprint=None))


def mark_merged(db: Connection, merged: Sequence[int]) -> None:
    """Mark the days of merged ratings, so that they are rated again under the surviving ids."""
    rows = select(func.min(_RATING_REVISION.period_date)).where(_RATING_REVISION.rating_id.in_(merged))
    first = db.execute(rows).scalar_one_or_none()
    if first is not None:
        rating_days.mark_days(db, [date.fromisoformat(first)])


def store_identities(db: Connection, register: IdentityRegister) -> None:
    """Store the register's changes. Merged ratings free their numbers before other ratings take them."""
    merged = {
        merged_id: surviving_id(register.merged, surviving)
        for merged_id, surviving in register.merged.items()
    }
    blank = dict.fromkeys(
        (*STANDING_COLUMNS, "user_id", "ifpa_id", "organizer_id", "name_key", "rank", "lower_bound")
    )
    for merged_id, surviving in merged.items():
        if merged_id not in register.created_ids:
            db.execute(
                update(tables.rating)
                .where(_RATING.rating_id == merged_id)
                .values(**blank, merged_into=surviving)
            )
    changed = sorted(
        rating_id for rating_id in register.changed_ids - register.created_ids if rating_id in register.by_id
    )
    for rating_id in changed:
        db.execute(
            update(tables.rating)
            .where(_RATING.rating_id == rating_id)
            .values(**_identity_values(register.by_id[rating_id]))
        )
    new = [
        {"rating_id": rating_id, **_identity_values(register.by_id[rating_id]), "merged_into": None}
        for rating_id in sorted(register.created_ids)
        if rating_id in register.by_id
    ]
    merged_at_once = [
        {"rating_id": rating_id, **blank, "name": "", "name_folded": "", "merged_into": merged[rating_id]}
        for rating_id in sorted(register.created_ids & merged.keys())
    ]
    for rows in (new, merged_at_once):
        if rows:
            db.execute(insert(tables.rating), rows)
    if register.created_ids:
        imports.move_sequences(db, [tables.rating])
    register.created_ids.clear()
    register.changed_ids.clear()


def _identity_values(identity: Identity) -> dict[str, Any]:
    return {
        "name": identity.name,
        "name_folded": names.fold(identity.name),
        "user_id": identity.user_id,
        "ifpa_id": identity.ifpa_id,
        "organizer_id": identity.organizer_id,
        "name_key": identity.name_key,
    }


def store_day(db: Connection, rated_day: RatedDay, parameters: Parameters, now: datetime) -> None:
    """Replace the revisions of a day, and store its period."""
    day = rated_day.day.day.isoformat()
    _store_revisions(db, day, rated_day.revisions, _revision_ids(db, day) if rated_day.was_rated else {})
    kinds = [kind for kind, _ in rated_day.day.events]
    tournament_count = kinds.count("tournament")
    db.execute(
        update(tables.rating_period)
        .where(_RATING_PERIOD.period_date == day)
        .values(
            status=rating_days.PROCESSED,
            tournament_count=tournament_count,
            challenge_count=0,
            ext_event_count=len(kinds) - tournament_count,
            result_count=rated_day.day.result_count,
            player_count=rated_day.day.player_count,
            fingerprint=rated_day.fingerprint,
            algorithm_version=ALGORITHM_VERSION,
            parameters=msgspec.to_builtins(parameters),
            processed_at=now,
        )
    )


def _revision_ids(db: Connection, day: str) -> dict[int, int]:
    """Rating id -> id of its revision of that day."""
    statement = (
        f"SELECT rating_id, rating_revision_id FROM rating_revision WHERE period_date = {_placeholder(db)}"  # noqa: S608  # our own words
    )
    rows = db.exec_driver_sql(statement, (day,))
    assert rows.cursor is not None
    # Raw rows of the driver: result processing would cost more than the read.
    revision_ids = dict(rows.cursor.fetchall())
    rows.close()
    return revision_ids


def _store_revisions(
    db: Connection, day: str, revisions: Sequence[RatingUpdate], stored_ids: Mapping[int, int]
) -> None:
    """Replace the revisions of a day. A rating that has one already keeps its id.

    Revisions are updated by their id: by rating and day, each would be searched in a large index.
    """
    mark = _placeholder(db)
    rows = {
        revision.rating_id: (*revision[:8], _ENCODE(revision.meetings).decode()) for revision in revisions
    }
    changed = ", ".join(f"{name} = {mark}" for name in REVISION_COLUMNS[1:-1])
    again = [(*values[1:], stored_ids[key]) for key, values in rows.items() if key in stored_ids]
    _execute_many(db, f"UPDATE rating_revision SET {changed} WHERE rating_revision_id = {mark}", again)  # noqa: S608  # our own words
    marks = ", ".join([mark] * len(REVISION_COLUMNS))
    new = [(*values, day) for key, values in rows.items() if key not in stored_ids]
    _execute_many(db, f"INSERT INTO rating_revision ({', '.join(REVISION_COLUMNS)}) VALUES ({marks})", new)  # noqa: S608  # our own words
    # People who did not play on that day after all.
    gone = [(revision_id,) for rating_id, revision_id in stored_ids.items() if rating_id not in rows]
    _execute_many(db, f"DELETE FROM rating_revision WHERE rating_revision_id = {mark}", gone)  # noqa: S608  # our own words


def confirm_day(db: Connection, day: date) -> None:
    """Mark a day as processed, because its results have not changed."""
    rows = update(tables.rating_period).where(_RATING_PERIOD.period_date == day.isoformat())
    db.execute(rows.values(status=rating_days.PROCESSED))


def store_standings(db: Connection, standings: Sequence[CurrentRating]) -> None:
    """Store the current standings of these ratings."""
    mark = _placeholder(db)
    assignments = ", ".join(f"{name} = {mark}" for name in STANDING_COLUMNS)
    rows = [
        (
            *standing[1:4],
            standing.first_period.isoformat(),
            standing.last_period.isoformat(),
            *standing[6:],
            standing.rating_id,
        )
        for standing in standings
    ]
    _execute_many(db, f"UPDATE rating SET {assignments} WHERE rating_id = {mark}", rows)  # noqa: S608  # our own words


def clear_standings(db: Connection, rating_ids: Sequence[int]) -> None:
    """Clear the standings of ratings that have no revision any more."""
    nothing = ", ".join(f"{name} = NULL" for name in (*STANDING_COLUMNS, "lower_bound", "rank"))
    rows = [(rating_id,) for rating_id in rating_ids]
    _execute_many(db, f"UPDATE rating SET {nothing} WHERE rating_id = {_placeholder(db)}", rows)  # noqa: S608  # our own words


def store_ranking(db: Connection, ranking: RankedRatings, day: date) -> None:
    """Store all lower bounds and ranks at the end of a day, and make it the current period."""
    if db.dialect.name == "sqlite":
        _execute_many(db, "UPDATE rating SET lower_bound = ?, rank = ? WHERE rating_id = ?", ranking.rows)
    elif ranking.rows:
        # One statement: there, one for each row costs twice as much.
        db.exec_driver_sql(RANK_AT_ONCE, tuple(list(column) for column in zip(*ranking.rows, strict=True)))
    make_current(db, day, ranking)


def make_current(db: Connection, day: date, ranking: RankedRatings, *, staged_run: int | None = None) -> None:
    """Make this period the current one, with the ratings that are stored, or staged by a run."""
    old = update(tables.rating_period).where(_RATING_PERIOD.is_current == true())
    db.execute(old.values(is_current=False, percentiles=None, staged_run=None))

    new = update(tables.rating_period).where(_RATING_PERIOD.period_date == day.isoformat())
    db.execute(new.values(is_current=True, percentiles=ranking.percentiles, staged_run=staged_run))


def finish_day(db: Connection, day: date, fingerprint: str | None) -> None:
    """Note that the ratings of a rated day are published, unless it was marked again meanwhile."""
    rows = update(tables.rating_period).where(
        _RATING_PERIOD.period_date == day.isoformat(), _RATING_PERIOD.status == rating_days.PROCESSED
    )
    db.execute(rows.values(fingerprint=fingerprint))
    unstaged = update(tables.rating_period).where(_RATING_PERIOD.period_date == day.isoformat())
    db.execute(unstaged.values(staged_run=None))


def _placeholder(db: Connection) -> str:
    """The driver's placeholder of a parameter."""
    return "?" if db.dialect.name == "sqlite" else "%s"


def _execute_many(db: Connection, statement: str, rows: list[Any]) -> None:
    """Execute one statement for thousands of rows, directly on the driver."""
    if rows:
        db.exec_driver_sql(statement, rows)


_STAGED_RATING = tables.staged_rating.c
StagedRow = dict[str, Any]


def staged_rows(
    run: int, standings: Sequence[CurrentRating], ranking: RankedRatings, cleared_ids: Sequence[int]
) -> list[StagedRow]:
    """The rows of all ratings, and empty ones of those that have no revision any more; by id."""
    place_by_id = {rating_id: (lower_bound, rank) for lower_bound, rank, rating_id in ranking.rows}
    nothing = (None,) * len(book.STANDING_COLUMNS)
    values_by_id: dict[int, tuple[Any, ...]] = dict.fromkeys(cleared_ids, nothing)
    for rated in standings:
        days = (rated.first_period.isoformat(), rated.last_period.isoformat())
        values_by_id[rated.rating_id] = (*rated[1:4], *days, *rated[6:], *place_by_id[rated.rating_id])
    return [_staged_row(run, rating_id, values_by_id[rating_id]) for rating_id in sorted(values_by_id)]


def _staged_row(run: int, rating_id: int, values: Sequence[Any]) -> StagedRow:
    return {"run": run, "rating_id": rating_id, **dict(zip(book.STANDING_COLUMNS, values, strict=True))}


def delete_hidden_slice(db: Connection) -> int:
    """Delete some of the staged ratings that no period shows, and return how many."""
    is_hidden = or_(SHOWN_RUN.is_(None), _STAGED_RATING.run != SHOWN_RUN)
    run = db.execute(
        select(_STAGED_RATING.run).where(is_hidden).order_by(_STAGED_RATING.run).limit(1)
    ).scalar_one_or_none()
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
        moved = update(tables.rating).where(
            _RATING.rating_id == _STAGED_RATING.rating_id, _RATING.merged_into.is_(None), some
        )
        db.execute(moved.values({_RATING[name]: _STAGED_RATING[name] for name in book.STANDING_COLUMNS}))
        db.execute(delete(tables.staged_rating).where(some))
    return count


def show_run(
    db: Connection, run: int, day: date, ranking: RankedRatings, hidden_ids: Collection[int]
) -> bool:
    """Show the run's staged ratings as those of the day, unless other people hide theirs by now."""
    # First the lock: people who opt out from here on wait, and change the ranks that are shown then.
    book.lock_current_period(db, is_shared=False)
    if standing.hidden_rating_ids(db) != hidden_ids:
        return False
    make_current(db, day, ranking, staged_run=run)
    return True


def _first_slice(db: Connection, run: int) -> tuple[ColumnElement[bool], int]:
    """The first staged rows of a run, which are locked, and their number."""
    rows = (
        select(_STAGED_RATING.rating_id)
        .where(_STAGED_RATING.run == run)
        .order_by(_STAGED_RATING.rating_id)
        .limit(slices.SLICE_ROWS)
    )
    ids = list(db.execute(rows.with_for_update()).scalars())
    if not ids:
        return _STAGED_RATING.run.is_(None), 0
    return and_(
        _STAGED_RATING.run == run, _STAGED_RATING.rating_id >= ids[0], _STAGED_RATING.rating_id <= ids[-1]
    ), len(ids)


# Store ratings imported from a file: all standings of a day, from which periods continue.


_USER = tables.user.c


class RatingsAlreadyComputed(Conflict):
    sentence = "Ratings were computed here already. A file can only be read before the first period."


class ImportedRating(Struct, frozen=True):
    """A rating in the file."""

    name: str
    user_id: int | None
    ifpa_id: int | None
    rating: float
    rd: float
    last_period: date


def replace_ratings(
    db: Connection, seeds: Sequence[ImportedRating], day: date, parameters: Parameters, now: datetime
) -> None:
    """Replace the ratings of an earlier file. They include all results up to their day.

    Raises Conflict once a day was rated here. Ranks are stored by `writes.store_ranking`.
    """
    rated_here = select(_RATING_PERIOD.rating_period_id).where(
        _RATING_PERIOD.is_imported == false(), _RATING_PERIOD.status != rating_days.WAITING
    )
    if db.execute(rated_here.limit(1)).first() is not None:
        raise RatingsAlreadyComputed
    rating_days.begin_run(db)
    for table in (tables.rating_revision, tables.staged_rating, tables.rating):
        db.execute(delete(table))
    db.execute(delete(tables.rating_period).where(_RATING_PERIOD.period_date <= day.isoformat()))
    db.execute(insert(tables.rating_period).values(**_period_values(day, parameters, now)))
    _store_ratings(db, seeds)


def _period_values(day: date, parameters: Parameters, now: datetime) -> dict[str, Any]:
    return {
        "period_date": day.isoformat(),
        "status": rating_days.PROCESSED,
        "is_current": True,
        "is_imported": True,
        "parameters": msgspec.to_builtins(parameters),
        "processed_at": now,
    }


def _store_ratings(db: Connection, seeds: Sequence[ImportedRating]) -> None:
    confirmed = rating_days.all_confirmed(db).number_by_user
    accounts = _account_name_keys(db, [rating.user_id for rating in seeds if rating.user_id is not None])
    rows = [_rating_values(rating, accounts, confirmed) for rating in seeds]
    if not rows:
        return
    db.execute(insert(tables.rating), rows)
    # In the order of the file, as the ids were given.
    ids = db.execute(select(tables.rating.c.rating_id).order_by(tables.rating.c.rating_id)).scalars()
    seeded = [
        {
            "rating_id": rating_id,
            "period_date": rating.last_period.isoformat(),
            "rating": rating.rating,
            "rd": rating.rd,
        }
        for rating_id, rating in zip(ids, seeds, strict=True)
    ]
    db.execute(insert(tables.rating_revision), seeded)


def _rating_values(
    rating: ImportedRating, accounts: dict[int, str], confirmed: dict[int, int]
) -> dict[str, Any]:
    # The file may come from another site: a user id counts only if that account has the same name here.
    is_same_user = rating.user_id is not None and accounts.get(rating.user_id) == names.name_key(rating.name)
    if is_same_user and rating.ifpa_id is not None and rating.user_id is not None:
        # Without confirmation the rating is the number's; confirming it later gives it to the account.
        is_same_user = confirmed.get(rating.user_id) == rating.ifpa_id
    last = rating.last_period.isoformat()
    return {
        "name": rating.name,
        "name_folded": names.name_key(rating.name),
        "user_id": rating.user_id if is_same_user else None,
        "ifpa_id": rating.ifpa_id,
        "rating": rating.rating,
        "rd": rating.rd,
        "first_period": last,
        "last_period": last,
    }


def _account_name_keys(db: Connection, user_ids: Sequence[int]) -> dict[int, str]:
    """User id -> name key, for comparison."""
    name_keys: dict[int, str] = {}
    for batch in ascending_batches(user_ids):
        for user_id, name in db.execute(select(_USER.user_id, _USER.name).where(_USER.user_id.in_(batch))):
            name_keys[user_id] = names.name_key(name)
    return name_keys
