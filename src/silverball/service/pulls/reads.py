"""The pull of an account from another service, its progress, and its reports."""

from datetime import datetime
from typing import Any

from msgspec import Struct
from sqlalchemy import Connection, func, or_, select

from silverball.store.tables import history_pull, history_pull_item, user

_P, _I = history_pull.c, history_pull_item.c
ACTIVE, STOPPED, FINISHED, FAILED = "active", "stopped", "finished", "failed"
# Until the first tournament was read: requests of one, at one request a second.
SECONDS_EXPECTED = 4.5


class HistoryPull(Struct, frozen=True):
    """A pull that an account started on a page."""

    history_pull_id: int
    user_id: int
    address: str
    has_secret: bool
    wanted: dict[str, Any]
    is_dry_run: bool
    status: str
    reason: str | None
    is_listed: bool
    requests: int
    foreign_requests: int
    seconds: int
    created_at: datetime
    updated_at: datetime
    # Tournaments to take, and those that have a report.
    total: int
    done: int

    @property
    def is_over(self) -> bool:
        return self.status in (FINISHED, FAILED)

    @property
    def minutes_left(self) -> int | None:
        """The whole minutes that the rest takes at the pace so far; None before the list is read."""
        if not self.is_listed:
            return None
        each = self.seconds / self.done if self.done else SECONDS_EXPECTED
        return round((self.total - self.done) * each / 60)


class ListedItem(Struct, frozen=True):
    """A tournament of a pull that has no report yet."""

    remote_id: int
    name: str
    updated_at: str | None


def pull_of(db: Connection, user_id: int) -> HistoryPull | None:
    """The newest pull of this account."""
    count = select(func.count()).where(_I.history_pull_id == _P.history_pull_id)
    rows = select(
        *(column for column in _P if column.name not in ("secret", "remote_user", "failures")),
        _P.secret.is_not(None).label("has_secret"),
        count.scalar_subquery().label("total"),
        count.where(_I.report.is_not(None)).scalar_subquery().label("done"),
    ).where(_P.user_id == user_id)
    stored = db.execute(rows).mappings().one_or_none()
    if stored is None:
        return None
    return HistoryPull(**{name: stored[name] for name in HistoryPull.__struct_fields__})


def reports_of(db: Connection, history_pull_id: int) -> list[Any]:
    """The reports so far, in the order of the source."""
    rows = select(_I.report).where(_I.history_pull_id == history_pull_id, _I.report.is_not(None))
    return list(db.execute(rows.order_by(_I.place)).scalars())


def next_item(db: Connection, history_pull_id: int) -> ListedItem | None:
    """The first tournament without a report."""
    rows = select(_I.remote_id, _I.name, _I.updated_at)
    rows = rows.where(_I.history_pull_id == history_pull_id, _I.report.is_(None))
    row = db.execute(rows.order_by(_I.place).limit(1)).one_or_none()
    return None if row is None else ListedItem(row.remote_id, row.name, row.updated_at)


def is_pull_due(db: Connection, now: datetime) -> bool:
    """Whether a pull waits for somebody to work on it."""
    is_free = or_(_P.busy_until.is_(None), _P.busy_until < now)
    rows = select(_P.history_pull_id).where(_P.status == ACTIVE, _P.due_at <= now, is_free)
    return db.execute(rows.limit(1)).first() is not None


def role_of(db: Connection, user_id: int) -> str | None:
    """The role of an account that may act; None when it is suspended."""
    row = select(user.c.role).where(user.c.user_id == user_id, user.c.suspended_at.is_(None))
    return db.execute(row).scalar_one_or_none()
