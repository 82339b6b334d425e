"""Ratings that came from a file: everybody's standing on a day, from which periods go on here."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

import msgspec
from sqlalchemy import Connection, delete, false, insert, select

from silverball.kit.errors import Conflict
from silverball.rules.ratings.formulas import Parameters
from silverball.service.periods.writes import periods as writes
from silverball.store import names, rating_days, revisions, tables

_P, _U = tables.rating_period.c, tables.user.c


@dataclass(frozen=True)
class ImportedRating:
    """One rating of the file."""

    name: str
    user_id: int | None
    ifpa_id: int | None
    rating: float
    rd: float
    last_period: date


def replace_ratings(
    db: Connection, seeds: Sequence[ImportedRating], day: date, parameters: Parameters, now: datetime
) -> None:
    """These ratings, as of a day, instead of those of an earlier file; results up to that day are in them.

    Raises Conflict when something was rated here already. Ranks follow with `writes.store_ranking`.
    """
    rated_here = select(_P.rating_period_id).where(
        _P.is_imported == false(), _P.status != rating_days.WAITING
    )
    if db.execute(rated_here.limit(1)).first() is not None:
        raise Conflict("Ratings were computed here already. A file can only be read before the first period.")
    writes.begin_run(db)
    for table in (tables.rating_revision, tables.rating):
        db.execute(delete(table))
    db.execute(delete(tables.rating_period).where(_P.period_date <= day.isoformat()))
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
    accounts = _account_name_keys(db, [one.user_id for one in seeds if one.user_id is not None])
    rows = [_rating_values(one, accounts) for one in seeds]
    if not rows:
        return
    db.execute(insert(tables.rating), rows)
    # In the order of the file, as the ids were given.
    ids = db.execute(select(tables.rating.c.rating_id).order_by(tables.rating.c.rating_id)).scalars()
    seeded = [
        {
            "rating_id": rating_id,
            "period_date": one.last_period.isoformat(),
            "rating": one.rating,
            "rd": one.rd,
        }
        for rating_id, one in zip(ids, seeds, strict=True)
    ]
    db.execute(insert(tables.rating_revision), seeded)


def _rating_values(one: ImportedRating, accounts: dict[int, str]) -> dict[str, Any]:
    # The file may be another house's: a number counts when that account has this name here too.
    is_here = one.user_id is not None and accounts.get(one.user_id) == names.name_key(one.name)
    last = one.last_period.isoformat()
    return {
        "name": one.name,
        "name_folded": names.name_key(one.name),
        "user_id": one.user_id if is_here else None,
        "ifpa_id": one.ifpa_id,
        "rating": one.rating,
        "rd": one.rd,
        "first_period": last,
        "last_period": last,
    }


def _account_name_keys(db: Connection, user_ids: Sequence[int]) -> dict[int, str]:
    """User id -> name, to be compared."""
    found: dict[int, str] = {}
    for start in range(0, len(user_ids), revisions.IDS_PER_STATEMENT):
        some = user_ids[start : start + revisions.IDS_PER_STATEMENT]
        for user_id, name in db.execute(select(_U.user_id, _U.name).where(_U.user_id.in_(some))):
            found[user_id] = names.name_key(name)
    return found
