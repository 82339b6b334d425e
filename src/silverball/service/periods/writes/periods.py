"""Store rating periods. The caller's transaction holds a period, its revisions and the standings."""

from collections.abc import Mapping, Sequence
from datetime import date, datetime, timedelta
from typing import Any

import msgspec
from msgspec import Struct
from sqlalchemy import Connection, false, func, insert, select, text, true, update

from silverball.rules.ratings.formulas import Parameters
from silverball.rules.ratings.identities import Identity, IdentityRegister
from silverball.rules.ratings.seats import ALGORITHM_VERSION, RatingDay, surviving_id
from silverball.rules.ratings.standing import CurrentRating, RankedRatings, RatingUpdate
from silverball.service.periods.reads import standing
from silverball.store import imports, names, rating_days, tables

SLOT = 0
COUNTS = standing.COUNTS
_R, _P, _V = tables.rating.c, tables.rating_period.c, tables.rating_revision.c
BEGIN_RUN = text(
    "INSERT INTO rating_run (slot, run) VALUES (0, 1)"
    " ON CONFLICT (slot) DO UPDATE SET run = rating_run.run + 1 RETURNING run"
)
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


def begin_run(db: Connection) -> int:
    """Begin a run and return its number. A running one stops at its next transaction."""
    return int(db.execute(BEGIN_RUN).scalar_one())


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
        _P.period_date >= day.isoformat(), _P.status != rating_days.WAITING, _P.is_imported == false()
    )
    db.execute(rows.values(status=rating_days.DIRTY, fingerprint=None))


def mark_merged(db: Connection, merged: Sequence[int]) -> None:
    """Mark the days of merged ratings, so that they are rated again under the surviving ids."""
    rows = select(func.min(_V.period_date)).where(_V.rating_id.in_(merged))
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
                update(tables.rating).where(_R.rating_id == merged_id).values(**blank, merged_into=surviving)
            )
    changed = sorted(
        rating_id for rating_id in register.changed_ids - register.created_ids if rating_id in register.by_id
    )
    for rating_id in changed:
        db.execute(
            update(tables.rating)
            .where(_R.rating_id == rating_id)
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
        .where(_P.period_date == day)
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
    rows = update(tables.rating_period).where(_P.period_date == day.isoformat())
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
    old = update(tables.rating_period).where(_P.is_current == true())
    db.execute(old.values(is_current=False, percentiles=None, staged_run=None))

    new = update(tables.rating_period).where(_P.period_date == day.isoformat())
    db.execute(new.values(is_current=True, percentiles=ranking.percentiles, staged_run=staged_run))


def finish_day(db: Connection, day: date, fingerprint: str | None) -> None:
    """Note that the ratings of a rated day are published, unless it was marked again meanwhile."""
    rows = update(tables.rating_period).where(
        _P.period_date == day.isoformat(), _P.status == rating_days.PROCESSED
    )
    db.execute(rows.values(fingerprint=fingerprint))
    unstaged = update(tables.rating_period).where(_P.period_date == day.isoformat())
    db.execute(unstaged.values(staged_run=None))


def _placeholder(db: Connection) -> str:
    """The driver's placeholder of a parameter."""
    return "?" if db.dialect.name == "sqlite" else "%s"


def _execute_many(db: Connection, statement: str, rows: list[Any]) -> None:
    """Execute one statement for thousands of rows, directly on the driver."""
    if rows:
        db.exec_driver_sql(statement, rows)
