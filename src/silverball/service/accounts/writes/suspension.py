"""Suspend an account: its tokens, sessions, devices and webhooks do nothing from then on."""

from datetime import datetime

from sqlalchemy import delete, select, update

from silverball.kit.errors import Conflict, NotFound
from silverball.store import audit, tables
from silverball.store.transaction import Transaction
from silverball_wire import times
from silverball_wire.users import Suspension

WEBHOOK_STOPPED = "The account of the organizer was suspended."


class OwnAccountNotSuspended(Conflict):
    sentence = "You cannot suspend your own account. Another administrator can."


def suspend(
    transaction: Transaction,
    user_id: int,
    *,
    now: datetime,
    by_user_id: int | None = None,
    source: str = audit.COMMAND_LINE,
) -> Suspension:
    """Suspend the account at once; a suspended one stays as it is. Raises NotFound.

    Raises OwnAccountNotSuspended for the account of who suspends.
    """
    if user_id == by_user_id:
        raise OwnAccountNotSuspended
    db, own = transaction.connection, tables.user.c.user_id == user_id
    suspended_at = _suspended_at(transaction, user_id)
    if suspended_at is not None:
        return Suspension(user_id=user_id, suspended_at=times.iso(suspended_at))
    db.execute(update(tables.user).where(own).values(suspended_at=now))
    for table in (tables.session, tables.half_sign_in):
        db.execute(delete(table).where(table.c.user_id == user_id))
    link = tables.account_link.c
    db.execute(delete(tables.account_link).where((link.user_id == user_id) | (link.created_by == user_id)))
    organized = select(tables.tournament.c.tournament_id).where(tables.tournament.c.organizer_id == user_id)
    is_sending = (tables.webhook.c.tournament_id.in_(organized), tables.webhook.c.is_active)
    values = {"is_active": False, "stopped_reason": WEBHOOK_STOPPED, "updated_at": now}
    db.execute(update(tables.webhook).where(*is_sending).values(**values))
    transaction.changed_user_ids.add(user_id)
    detail = "" if by_user_id is None else f"by {by_user_id}"
    audit.record(db, "account-suspended", at=now, user_id=user_id, source=source, detail=detail)
    return Suspension(user_id=user_id, suspended_at=times.iso(now))


def unsuspend(
    transaction: Transaction,
    user_id: int,
    *,
    now: datetime,
    by_user_id: int | None = None,
    source: str = audit.COMMAND_LINE,
) -> Suspension:
    """Let a suspended account act again, with its tokens; webhooks stay off. Raises NotFound."""
    if _suspended_at(transaction, user_id) is not None:
        db, own = transaction.connection, tables.user.c.user_id == user_id
        db.execute(update(tables.user).where(own).values(suspended_at=None))
        transaction.changed_user_ids.add(user_id)
        detail = "" if by_user_id is None else f"by {by_user_id}"
        audit.record(db, "account-unsuspended", at=now, user_id=user_id, source=source, detail=detail)
    return Suspension(user_id=user_id, suspended_at=None)


def _suspended_at(transaction: Transaction, user_id: int) -> datetime | None:
    row = select(tables.user.c.suspended_at).where(tables.user.c.user_id == user_id).with_for_update()
    found = transaction.connection.execute(row).one_or_none()
    if found is None:
        raise NotFound("User", user_id)
    suspended_at: datetime | None = found.suspended_at
    return suspended_at
