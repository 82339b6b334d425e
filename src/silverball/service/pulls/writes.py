"""Start, stop, continue and work on the pulls of accounts. The secret goes when a pull ends."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from msgspec import Struct
from sqlalchemy import Connection, delete, insert, or_, select, update

from silverball.kit.errors import Conflict, NotFound
from silverball.service.pulls.reads import ACTIVE, FAILED, FINISHED, STOPPED, ListedItem
from silverball.store import encryption
from silverball.store.tables import history_pull, history_pull_item, user

_P, _I = history_pull.c, history_pull_item.c
LEASE = timedelta(minutes=3)
# The token of a pull that was stopped is kept for so long.
STOPPED_KEPT = timedelta(days=7)


class PullRunsAlready(Conflict):
    sentence = "You bring something along already. Wait for its end, or give it up first."


class NoPullThere(Conflict):
    sentence = "There is no pull to do that with any more."


class ClaimedPull(Struct, frozen=True):
    """A pull that this process works on."""

    history_pull_id: int
    user_id: int
    address: str
    token: str
    wanted: dict[str, Any]
    is_dry_run: bool
    is_listed: bool
    remote_user: int | None
    requests: int
    foreign_requests: int
    seconds: int
    failures: int


def start_pull(
    db: Connection,
    user_id: int,
    *,
    address: str,
    token: str,
    wanted: dict[str, Any],
    is_dry_run: bool,
    now: datetime,
) -> None:
    """Start a pull in place of the account's earlier one. Raises PullRunsAlready, NoEncryptionKey."""
    _lock_account(db, user_id)
    row = select(_P.status).where(_P.user_id == user_id)
    if db.execute(row).scalar_one_or_none() in (ACTIVE, STOPPED):
        raise PullRunsAlready
    db.execute(delete(history_pull).where(_P.user_id == user_id))
    values = {
        "user_id": user_id,
        "address": address,
        "secret": encryption.encrypt(db, token) if token else None,
        "wanted": wanted,
        "is_dry_run": is_dry_run,
        "status": ACTIVE,
        "is_listed": False,
        **dict.fromkeys(("requests", "foreign_requests", "seconds", "failures"), 0),
        **dict.fromkeys(("due_at", "created_at", "updated_at"), now),
    }
    db.execute(insert(history_pull).values(**values))


def stop_pull(db: Connection, user_id: int, now: datetime) -> None:
    """Stop it until it is continued. Raises NoPullThere."""
    _change(db, user_id, [ACTIVE], status=STOPPED, reason=None, updated_at=now)


def continue_pull(db: Connection, user_id: int, now: datetime) -> None:
    """Go on with a pull that was stopped. Raises NoPullThere."""
    _change(db, user_id, [STOPPED], status=ACTIVE, failures=0, due_at=now, updated_at=now)


def give_up_pull(db: Connection, user_id: int, now: datetime) -> None:
    """End it and delete its token; what was taken stays. Raises NoPullThere."""
    reason = "You gave it up."
    _change(db, user_id, [ACTIVE, STOPPED], status=FAILED, reason=reason, secret=None, updated_at=now)


def claim_next_pull(db: Connection, now: datetime) -> ClaimedPull | None:
    """Take the pull that has waited longest, for the time of a lease."""
    stale = update(history_pull).where(_P.status == STOPPED, _P.updated_at < now - STOPPED_KEPT)
    db.execute(stale.values(status=FAILED, reason="It was stopped for a week.", secret=None))
    rows = select(history_pull).where(_P.status == ACTIVE, _P.due_at <= now)
    rows = rows.where(or_(_P.busy_until.is_(None), _P.busy_until < now))
    rows = rows.order_by(_P.due_at, _P.history_pull_id).limit(1)
    row = db.execute(rows.with_for_update(skip_locked=True)).mappings().one_or_none()
    if row is None:
        return None
    own = _P.history_pull_id == row["history_pull_id"]
    # A process that vanished has left its lease: perhaps it was this pull that it died of.
    failures = row["failures"] + (row["busy_until"] is not None)
    db.execute(update(history_pull).where(own).values(busy_until=now + LEASE, failures=failures))
    token = "" if row["secret"] is None else encryption.decrypt(db, row["secret"])
    names = [name for name in ClaimedPull.__struct_fields__ if name not in ("token", "failures")]
    return ClaimedPull(
        token=token, failures=failures, **{name: stored for name, stored in row.items() if name in names}
    )


def renew_claim(db: Connection, pull: ClaimedPull, now: datetime, **counts: int) -> bool:
    """Keep the pull for another lease, and store its counts. Returns whether to go on with it."""
    own = (_P.history_pull_id == pull.history_pull_id, _P.status == ACTIVE)
    row = update(history_pull).where(*own)
    return db.execute(row.values(busy_until=now + LEASE, **counts)).rowcount == 1


def store_list(
    db: Connection, pull: ClaimedPull, items: Sequence[ListedItem], remote_user: int | None
) -> None:
    """Store the tournaments to take, in their order."""
    own = _P.history_pull_id == pull.history_pull_id
    db.execute(update(history_pull).where(own).values(is_listed=True, remote_user=remote_user))
    rows = [
        {
            "history_pull_id": pull.history_pull_id,
            "remote_id": item.remote_id,
            "place": place,
            "name": item.name,
            "updated_at": item.updated_at,
        }
        for place, item in enumerate(items)
    ]
    if rows:
        db.execute(insert(history_pull_item), rows)


def store_report(db: Connection, pull: ClaimedPull, remote_id: int, report: Any) -> None:
    """Store the report of a tournament."""
    own = (_I.history_pull_id == pull.history_pull_id, _I.remote_id == remote_id)
    db.execute(update(history_pull_item).where(*own).values(report=report))
    # What can be read is no fault any more.
    row = update(history_pull).where(_P.history_pull_id == pull.history_pull_id)
    db.execute(row.values(failures=0, reason=None))


def release_pull(db: Connection, pull: ClaimedPull, *, due_at: datetime, reason: str | None = None) -> None:
    """Give the pull back, to be gone on with at this moment."""
    values: dict[str, Any] = {"busy_until": None, "due_at": due_at, "reason": reason}
    if reason is not None:
        values["failures"] = _P.failures + 1
    own = _P.history_pull_id == pull.history_pull_id
    db.execute(update(history_pull).where(own, _P.status == ACTIVE).values(**values))
    db.execute(update(history_pull).where(own, _P.status != ACTIVE).values(busy_until=None))


def end_pull(db: Connection, pull: ClaimedPull, now: datetime, fault: str | None = None) -> None:
    """End the pull and delete its token."""
    values = {"status": FINISHED if fault is None else FAILED, "reason": fault, "secret": None}
    own = (_P.history_pull_id == pull.history_pull_id, _P.status == ACTIVE)
    row = update(history_pull).where(*own)
    db.execute(row.values(**values, busy_until=None, updated_at=now))


def _change(db: Connection, user_id: int, states: Sequence[str], **values: Any) -> None:
    row = update(history_pull).where(_P.user_id == user_id, _P.status.in_(states)).values(**values)
    if not db.execute(row).rowcount:
        raise NoPullThere


def _lock_account(db: Connection, user_id: int) -> None:
    row = select(user.c.user_id).where(user.c.user_id == user_id).with_for_update()
    if db.execute(row).first() is None:
        raise NotFound("User", user_id)
