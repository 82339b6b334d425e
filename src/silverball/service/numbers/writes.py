"""Confirm federation numbers of accounts, one or many, or withdraw them. Source: ratings, section A.5."""

from collections.abc import Collection, Sequence
from datetime import date, datetime

from msgspec import Struct
from sqlalchemy import Connection, and_, delete, func, insert, or_, select, update

from silverball.kit.errors import Conflict, NotFound
from silverball.service.numbers import reads
from silverball.service.numbers.reads import Pair
from silverball.store import tables
from silverball.store.database.conditions import is_among
from silverball.store.database.transaction import Transaction
from silverball.store.people import audit, rating_days

# Results wait while a batch is confirmed, so that it must be short.
BATCH_MAX = 500
_CONFIRMED_NUMBER, _USER = tables.confirmed_number.c, tables.user.c
_PLAYER, _RATING = tables.player.c, tables.rating.c
_RATING_SUBMISSION, _SENT = tables.rating_submission.c, tables.submission_player.c


class NumberAlreadyConfirmed(Conflict):
    sentence = "Number {number} is confirmed for user {user_id} already. Withdraw it there first."


class AccountHasNumber(Conflict):
    sentence = "Number {number} is confirmed for this account already. Withdraw it first."


class ConfirmedBatch(Struct, frozen=True):
    """The numbers that a batch confirmed, and those left out; `batch_id` is None where it has none."""

    batch_id: int | None
    confirmed: list[Pair]
    left_out: list[Pair]


class Actor(Struct, frozen=True):
    """An account, or the command line, that confirms or withdraws numbers now."""

    now: datetime
    # An address, or the command line, which has no account.
    source: str
    user_id: int | None = None

    def detail(self, ifpa_id: int, batch_id: int | None = None) -> str:
        """The number, who changed it, and in which batch, as the log of security has it."""
        by = "" if self.user_id is None else f" by {self.user_id}"
        return f"{ifpa_id}{by}" + ("" if batch_id is None else f" in batch {batch_id}")


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
    if db.execute(select(_USER.user_id).where(_USER.user_id == user_id).with_for_update()).first() is None:
        raise NotFound("User", user_id)
    holder, own = rating_days.holder_of(db, ifpa_id), rating_days.number_of(db, user_id)
    if holder is not None:
        raise NumberAlreadyConfirmed(number=ifpa_id, user_id=holder)
    if own is not None:
        raise AccountHasNumber(number=own)
    # A run that is under way has loaded the numbers already.
    rating_days.begin_run(db)
    _confirm(transaction, [(user_id, ifpa_id)], Actor(now, source, by_user_id), batch_id=None)


def confirm_ready_numbers(transaction: Transaction, pairs: Sequence[Pair], actor: Actor) -> ConfirmedBatch:
    """Confirm those of these numbers that nothing stands in the way of, as one batch for one rating run.

    They are looked at again here, since much can have happened after they were shown.
    """
    db = transaction.connection
    users = sorted({user_id for user_id, _ in pairs})
    # In one order, so that two batches wait for each other and not in a circle.
    locked = select(_USER.user_id).where(is_among(_USER.user_id, users)).order_by(_USER.user_id)
    db.execute(locked.with_for_update()).all()
    described = reads.describe_numbers(db, list(dict.fromkeys(pairs)))
    ready = [(number.user_id, number.ifpa_id) for number in described if not number.obstacles]
    left_out = [pair for pair in dict.fromkeys(pairs) if pair not in set(ready)]
    if not ready:
        return ConfirmedBatch(None, [], left_out)
    # A run that is under way has loaded the numbers already. No other batch has the number of the new one.
    batch_id = rating_days.begin_run(db)
    _confirm(transaction, ready, actor, batch_id)
    return ConfirmedBatch(batch_id, ready, left_out)


def withdraw_number(
    transaction: Transaction, user_id: int, *, now: datetime, source: str, by_user_id: int | None = None
) -> int:
    """Withdraw the account's confirmed number, and return it. Raises NotFound."""
    ifpa_id = rating_days.number_of(transaction.connection, user_id)
    if ifpa_id is None:
        raise NotFound("User", user_id)
    _withdraw(transaction, [(user_id, ifpa_id)], Actor(now, source, by_user_id), batch_id=None)
    return ifpa_id


def withdraw_batch(transaction: Transaction, batch_id: int, actor: Actor) -> list[Pair]:
    """Withdraw what the batch confirmed and nobody withdrew since; returns it. Raises NotFound."""
    pairs = reads.confirmed_in_batch(transaction.connection, batch_id)
    if not pairs:
        raise NotFound("NumberBatch", batch_id)
    _withdraw(transaction, pairs, actor, batch_id)
    return pairs


def _confirm(transaction: Transaction, pairs: Sequence[Pair], actor: Actor, batch_id: int | None) -> None:
    db = transaction.connection
    rows = [
        {"ifpa_id": ifpa_id, "user_id": user_id, "at": actor.now, "batch_id": batch_id}
        for user_id, ifpa_id in pairs
    ]
    db.execute(insert(tables.confirmed_number), rows)
    for user_id, ifpa_id in pairs:
        _join_at_once(db, user_id, ifpa_id)
        detail = actor.detail(ifpa_id, batch_id)
        audit.record(
            db, "number-confirmed", at=actor.now, user_id=user_id, source=actor.source, detail=detail
        )
    _mark_days(db, pairs)
    transaction.changed_user_ids.update(user_id for user_id, _ in pairs)


def _withdraw(transaction: Transaction, pairs: Sequence[Pair], actor: Actor, batch_id: int | None) -> None:
    db = transaction.connection
    users = [user_id for user_id, _ in pairs]
    rating_days.begin_run(db)
    db.execute(delete(tables.confirmed_number).where(is_among(_CONFIRMED_NUMBER.user_id, users)))
    db.execute(update(tables.rating).where(is_among(_RATING.user_id, users)).values(ifpa_id=None))
    for user_id, ifpa_id in pairs:
        detail = actor.detail(ifpa_id, batch_id)
        audit.record(
            db, "number-withdrawn", at=actor.now, user_id=user_id, source=actor.source, detail=detail
        )
    _mark_days(db, pairs)
    transaction.changed_user_ids.update(users)


def _join_at_once(db: Connection, user_id: int, ifpa_id: int) -> None:
    """Complete the rating that one of the two has; if both have one, the next run merges them.

    So the account's opt-out hides the number's rating from now on.
    """
    rows = select(_RATING.rating_id, _RATING.user_id).where(
        or_(_RATING.user_id == user_id, _RATING.ifpa_id == ifpa_id)
    )
    known = db.execute(rows).all()
    if len(known) != 1:
        return
    # An account whose rating has another number keeps none of it: that one is not confirmed.
    joined = {"user_id": user_id, "ifpa_id": ifpa_id, "organizer_id": None, "name_key": None}
    db.execute(update(tables.rating).where(_RATING.rating_id == known[0].rating_id).values(**joined))
    if known[0].user_id is None:
        rating_days.update_user(db, user_id, was_hidden=False)


def _mark_days(db: Connection, pairs: Collection[Pair]) -> None:
    """Mark the first day of the results of all these accounts and numbers."""
    users, numbers = [user_id for user_id, _ in pairs], [ifpa_id for _, ifpa_id in pairs]
    theirs = or_(
        is_among(_PLAYER.claimed_by, users),
        and_(_PLAYER.claimed_by.is_(None), is_among(_PLAYER.ifpa_id, numbers)),
    )
    rating_days.mark_players(db, list(db.execute(select(_PLAYER.player_id).where(theirs)).scalars()))
    submitted = (
        select(func.min(_RATING_SUBMISSION.event_date))
        .join(tables.submission_player, _SENT.rating_submission_id == _RATING_SUBMISSION.rating_submission_id)
        .where(
            or_(is_among(_SENT.user_id, users), is_among(_SENT.ifpa_id, numbers)),
            _RATING_SUBMISSION.status == "processed",
        )
    )
    first = db.execute(submitted).scalar_one_or_none()
    if first is not None:
        rating_days.mark_days(db, [date.fromisoformat(first)])
