"""Store ratings imported from a file: all standings of a day, from which periods continue."""

from collections.abc import Sequence
from datetime import date, datetime
from typing import Any

import msgspec
from msgspec import Struct
from sqlalchemy import Connection, delete, false, insert, select

from silverball.kit.errors import Conflict
from silverball.rules.ratings.formulas import Parameters
from silverball.service.periods.writes import periods as writes
from silverball.store import confirmed_numbers, names, rating_days, tables
from silverball.store.batches import ascending_batches

_P, _U = tables.rating_period.c, tables.user.c


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
    rated_here = select(_P.rating_period_id).where(
        _P.is_imported == false(), _P.status != rating_days.WAITING
    )
    if db.execute(rated_here.limit(1)).first() is not None:
        raise RatingsAlreadyComputed
    writes.begin_run(db)
    for table in (tables.rating_revision, tables.staged_rating, tables.rating):
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
    confirmed = confirmed_numbers.all_confirmed(db).number_by_user
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
        for user_id, name in db.execute(select(_U.user_id, _U.name).where(_U.user_id.in_(batch))):
            name_keys[user_id] = names.name_key(name)
    return name_keys
