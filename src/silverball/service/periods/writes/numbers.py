"""Confirm an account's federation number, or withdraw it. Source: ratings, section A.5."""

from datetime import date, datetime

from sqlalchemy import Connection, and_, delete, func, insert, or_, select, update

from silverball.kit.errors import Conflict, NotFound
from silverball.service.periods.writes import periods as writes
from silverball.store import audit, confirmed_numbers, rating_days, tables
from silverball.store.transaction import Transaction

_C, _P, _R, _U = tables.confirmed_number.c, tables.player.c, tables.rating.c, tables.user.c
_S, _SENT = tables.rating_submission.c, tables.submission_player.c


class NumberAlreadyConfirmed(Conflict):
    sentence = "Number {number} is confirmed for user {user_id} already. Withdraw it there first."


class AccountHasNumber(Conflict):
    sentence = "Number {number} is confirmed for this account already. Withdraw it first."


def confirm_number(
    transaction: Transaction,
    user_id: int,
    ifpa_id: int,
    *,
    now: datetime,
    source: str,
    by_user_id: int | None = None,
) -> None:
    """Confirm that the number is this account's. Raises NotFound and Conflict."""
    db = transaction.connection
    if db.execute(select(_U.user_id).where(_U.user_id == user_id).with_for_update()).first() is None:
        raise NotFound("User", user_id)
    holder, own = confirmed_numbers.holder_of(db, ifpa_id), confirmed_numbers.number_of(db, user_id)
    if holder is not None:
        raise NumberAlreadyConfirmed(number=ifpa_id, user_id=holder)
    if own is not None:
        raise AccountHasNumber(number=own)
    # A run that is under way has loaded the numbers already.
    writes.begin_run(db)
    db.execute(insert(tables.confirmed_number).values(ifpa_id=ifpa_id, user_id=user_id, at=now))
    _join_at_once(db, user_id, ifpa_id)
    _mark_days(db, user_id, ifpa_id)
    transaction.changed_user_ids.add(user_id)
    detail = _audit_detail(ifpa_id, by_user_id)
    audit.record(db, "number-confirmed", at=now, user_id=user_id, source=source, detail=detail)


def withdraw_number(
    transaction: Transaction, user_id: int, *, now: datetime, source: str, by_user_id: int | None = None
) -> int:
    """Withdraw the account's confirmed number, and return it. Raises NotFound."""
    db = transaction.connection
    ifpa_id = confirmed_numbers.number_of(db, user_id)
    if ifpa_id is None:
        raise NotFound("User", user_id)
    writes.begin_run(db)
    db.execute(delete(tables.confirmed_number).where(_C.user_id == user_id))
    db.execute(update(tables.rating).where(_R.user_id == user_id).values(ifpa_id=None))
    _mark_days(db, user_id, ifpa_id)
    transaction.changed_user_ids.add(user_id)
    detail = _audit_detail(ifpa_id, by_user_id)
    audit.record(db, "number-withdrawn", at=now, user_id=user_id, source=source, detail=detail)
    return ifpa_id


def _audit_detail(ifpa_id: int, by_user_id: int | None) -> str:
    return str(ifpa_id) if by_user_id is None else f"{ifpa_id} by {by_user_id}"


def _join_at_once(db: Connection, user_id: int, ifpa_id: int) -> None:
    """Complete the rating that one of the two has; if both have one, the next run merges them.

    So the account's opt-out hides the number's rating from now on.
    """
    rows = select(_R.rating_id, _R.user_id).where(or_(_R.user_id == user_id, _R.ifpa_id == ifpa_id))
    known = db.execute(rows).all()
    if len(known) != 1:
        return
    # An account whose rating has another number keeps none of it: that one is not confirmed.
    joined = {"user_id": user_id, "ifpa_id": ifpa_id, "organizer_id": None, "name_key": None}
    db.execute(update(tables.rating).where(_R.rating_id == known[0].rating_id).values(**joined))
    if known[0].user_id is None:
        rating_days.update_user(db, user_id, was_hidden=False)


def _mark_days(db: Connection, user_id: int, ifpa_id: int) -> None:
    """Mark the first day of the account's results and of the number's."""
    theirs = or_(_P.claimed_by == user_id, and_(_P.claimed_by.is_(None), _P.ifpa_id == ifpa_id))
    rating_days.mark_players(db, list(db.execute(select(_P.player_id).where(theirs)).scalars()))
    submitted = (
        select(func.min(_S.event_date))
        .join(tables.submission_player, _SENT.rating_submission_id == _S.rating_submission_id)
        .where(or_(_SENT.user_id == user_id, _SENT.ifpa_id == ifpa_id), _S.status == "processed")
    )
    first = db.execute(submitted).scalar_one_or_none()
    if first is not None:
        rating_days.mark_days(db, [date.fromisoformat(first)])
