"""Erased people of whom slow places still hold traces: what is left to do, kept until it is done.

An erased person is shown nowhere from the commit on. Places that nobody reads, or that are erased while
they are read, are tidied afterwards in short transactions, also after a crash.
"""

import msgspec
from sqlalchemy import Connection, delete, insert, select, update

from silverball.kit.conversions import decode
from silverball.store.tables import site_value

NAME = "erasure "
_ROW = site_value.c
_PENDING = select(_ROW.value).where(_ROW.name.startswith(NAME, autoescape=True))


class PendingErasure(msgspec.Struct, kw_only=True):
    """A person, their players (id -> name), and how far the tidying has come."""

    user_id: int
    name: str
    players: dict[int, str]
    # The newest line of the journal, and the last account with stored replies, that were tidied.
    journal_id: int = 0
    reply_owner_id: int = 0
    # Whether the indexes of names are being rid of what they still hold.
    is_forgetting: bool = False

    @property
    def key(self) -> str:
        return f"{NAME}{self.user_id}"


def begin(db: Connection, pending: PendingErasure) -> None:
    """Note what is left to do; once more for an account that is erased again."""
    finish(db, pending)
    db.execute(insert(site_value).values(name=pending.key, value=_encode(pending)))


def next_pending(db: Connection) -> PendingErasure | None:
    """An erasure that no other process is tidying now."""
    row = _PENDING.order_by(_ROW.name).limit(1).with_for_update(skip_locked=True)
    value = db.execute(row).scalar_one_or_none()
    return None if value is None else _decode(value)


def all_pending(db: Connection) -> list[PendingErasure]:
    """Every erasure that is not finished."""
    return [_decode(value) for value in db.execute(_PENDING).scalars()]


def save_progress(db: Connection, pending: PendingErasure) -> None:
    """Note how far the tidying has come."""
    db.execute(update(site_value).where(_ROW.name == pending.key).values(value=_encode(pending)))


def finish(db: Connection, pending: PendingErasure) -> None:
    """Forget the person for good."""
    db.execute(delete(site_value).where(_ROW.name == pending.key))


def _encode(pending: PendingErasure) -> str:
    return msgspec.json.encode(pending).decode()


def _decode(value: str) -> PendingErasure:
    return decode(value, PendingErasure)
