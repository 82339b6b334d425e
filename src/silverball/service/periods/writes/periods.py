"""Storing rating periods: one transaction of the caller's holds a period, its revisions and what follows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any

import msgspec
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
_ENCODE = msgspec.json.Encoder().encode


class RunSuperseded(Exception):
    """Another run has begun: this one must not store anything any more."""


@dataclass(frozen=True)
class RatedDay:
    """A day that was rated: what it was made from, and what came of it."""

    day: RatingDay
    fingerprint: str
    revisions: list[RatingUpdate]
    # Whether it has revisions of an earlier run.
    was_rated: bool


def begin_run(db: Connection) -> int:
    """Begin a run; whichever is at work stops at its next transaction. Returns the run's number."""
    return int(db.execute(BEGIN_RUN).scalar_one())


def require_current_run(db: Connection, run: int) -> None:
    """Raises Superseded when another run has begun since; from here on none can."""
    rows = select(tables.rating_run.c.run).where(tables.rating_run.c.slot == SLOT).with_for_update()
    if db.execute(rows).scalar_one() != run:
        raise RunSuperseded


def create_days(db: Connection, first: date, last: date) -> None:
    """A row for every day from the first to the last that has none."""
    there = {one.day for one in standing.day_rows(db, first, last)}
    days = (first + timedelta(days=n) for n in range((last - first).days + 1))
    rows = [
        {
            "period_date": day.isoformat(),
            "status": rating_days.WAITING,
            "is_current": False,
            "is_imported": False,
        }
        for day in days
        if day not in there
    ]
    if rows:
        db.execute(insert(tables.rating_period), rows)


def mark_for_rerating(db: Connection, day: date) -> None:
    """Rate everything again that was rated from this day on, whether its results changed or not."""
    rows = update(tables.rating_period).where(
        _P.period_date >= day.isoformat(), _P.status != rating_days.WAITING, _P.is_imported == false()
    )
    db.execute(rows.values(status=rating_days.DIRTY, fingerprint=None))


def mark_merged(db: Connection, merged: Sequence[int]) -> None:
    """Ratings that went up in others: what they did is to be rated again under the others' ids."""
    rows = select(func.min(_V.period_date)).where(_V.rating_id.in_(merged))
    first = db.execute(rows).scalar_one_or_none()
    if first is not None:
        rating_days.mark_days(db, [date.fromisoformat(first)])


def store_identities(db: Connection, register: IdentityRegister) -> None:
    """What the register learned; the numbers of a merged one are free before another takes them."""
    merged = {gone: surviving_id(register.merged, kept) for gone, kept in register.merged.items()}
    nobody = dict.fromkeys(
        (*STANDING_COLUMNS, "user_id", "ifpa_id", "organizer_id", "name_key", "rank", "lower_bound")
    )
    for gone, kept in merged.items():
        if gone not in register.created_ids:
            db.execute(update(tables.rating).where(_R.rating_id == gone).values(**nobody, merged_into=kept))
    changed = sorted(one for one in register.changed_ids - register.created_ids if one in register.by_id)
    for one in changed:
        db.execute(
            update(tables.rating).where(_R.rating_id == one).values(**_identity_values(register.by_id[one]))
        )
    new = [
        {"rating_id": one, **_identity_values(register.by_id[one]), "merged_into": None}
        for one in sorted(register.created_ids)
        if one in register.by_id
    ]
    gone_at_once = [
        {"rating_id": one, **nobody, "name": "", "name_folded": "", "merged_into": merged[one]}
        for one in sorted(register.created_ids & merged.keys())
    ]
    for rows in (new, gone_at_once):
        if rows:
            db.execute(insert(tables.rating), rows)
    if register.created_ids:
        imports.move_sequences(db, [tables.rating])
    register.created_ids.clear()
    register.changed_ids.clear()


def _identity_values(one: Identity) -> dict[str, Any]:
    return {
        "name": one.name,
        "name_folded": names.fold(one.name),
        "user_id": one.user_id,
        "ifpa_id": one.ifpa_id,
        "organizer_id": one.organizer_id,
        "name_key": one.name_key,
    }


def store_day(db: Connection, one: RatedDay, parameters: Parameters, now: datetime) -> None:
    """The revisions of a day instead of those that are there, and the period itself."""
    day = one.day.day.isoformat()
    _store_revisions(db, day, one.revisions, _revision_ids(db, day) if one.was_rated else {})
    kinds = [kind for kind, _ in one.day.events]
    ours = kinds.count("tournament")
    db.execute(
        update(tables.rating_period)
        .where(_P.period_date == day)
        .values(
            status=rating_days.PROCESSED,
            tournament_count=ours,
            challenge_count=0,
            ext_event_count=len(kinds) - ours,
            result_count=one.day.result_count,
            player_count=one.day.player_count,
            fingerprint=one.fingerprint,
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
    # As the driver gives them: wrapping each row would cost more than reading it.
    found = dict(rows.cursor.fetchall())
    rows.close()
    return found


def _store_revisions(
    db: Connection, day: str, revisions: Sequence[RatingUpdate], there: Mapping[int, int]
) -> None:
    """These instead of those that are there; one that is rated again keeps its id.

    It is found by that id: by person and day it would be looked for all over a large index.
    """
    mark = _placeholder(db)
    rows = [(*row[:8], _ENCODE(row.meetings).decode()) for row in revisions]
    changed = ", ".join(f"{name} = {mark}" for name in REVISION_COLUMNS[1:-1])
    again = [(*row[1:], there[row[0]]) for row in rows if row[0] in there]
    _execute_many(db, f"UPDATE rating_revision SET {changed} WHERE rating_revision_id = {mark}", again)  # noqa: S608  # our own words
    marks = ", ".join([mark] * len(REVISION_COLUMNS))
    new = [(*row, day) for row in rows if row[0] not in there]
    _execute_many(db, f"INSERT INTO rating_revision ({', '.join(REVISION_COLUMNS)}) VALUES ({marks})", new)  # noqa: S608  # our own words
    kept = {row[0] for row in rows}
    gone = [(revision_id,) for rating_id, revision_id in there.items() if rating_id not in kept]
    # Who did not play that day after all.
    _execute_many(db, f"DELETE FROM rating_revision WHERE rating_revision_id = {mark}", gone)  # noqa: S608  # our own words


def confirm_day(db: Connection, day: date) -> None:
    """A day whose results turned out to be the same as before."""
    rows = update(tables.rating_period).where(_P.period_date == day.isoformat())
    db.execute(rows.values(status=rating_days.PROCESSED))


def store_standings(db: Connection, standings: Sequence[CurrentRating]) -> None:
    """How these people stand now."""
    mark = _placeholder(db)
    said = ", ".join(f"{name} = {mark}" for name in STANDING_COLUMNS)
    rows = [
        (*one[1:4], one.first_period.isoformat(), one.last_period.isoformat(), *one[6:], one.rating_id)
        for one in standings
    ]
    _execute_many(db, f"UPDATE rating SET {said} WHERE rating_id = {mark}", rows)  # noqa: S608  # our own words


def clear_other_standings(db: Connection, standings: Sequence[CurrentRating]) -> None:
    """Whoever stands in no revision any more has no rating."""
    there = db.execute(select(_R.rating_id).where(_R.last_period.is_not(None))).scalars()
    gone = sorted(set(there) - {one.rating_id for one in standings})
    nothing = ", ".join(f"{name} = NULL" for name in (*STANDING_COLUMNS, "lower_bound", "rank"))
    rows = [(one,) for one in gone]
    _execute_many(db, f"UPDATE rating SET {nothing} WHERE rating_id = {_placeholder(db)}", rows)  # noqa: S608  # our own words


def store_ranking(db: Connection, ranking: RankedRatings, day: date) -> None:
    """Everybody's lower bound and rank at the end of a day, which is the current period from now on."""
    mark = _placeholder(db)
    statement = f"UPDATE rating SET lower_bound = {mark}, rank = {mark} WHERE rating_id = {mark}"  # noqa: S608  # our own words
    _execute_many(db, statement, ranking.rows)
    old = update(tables.rating_period).where(_P.is_current == true())
    db.execute(old.values(is_current=False, percentiles=None))
    new = update(tables.rating_period).where(_P.period_date == day.isoformat())
    db.execute(new.values(is_current=True, percentiles=ranking.percentiles))


def _placeholder(db: Connection) -> str:
    """How the driver writes a parameter."""
    return "?" if db.dialect.name == "sqlite" else "%s"


def _execute_many(db: Connection, statement: str, rows: list[Any]) -> None:
    """One statement for many rows, straight to the driver: they are thousands."""
    if rows:
        db.exec_driver_sql(statement, rows)
