"""Changes of large accounts that some of their tournaments do not show yet: kept until they all do.

An account in thousands of tournaments changes in one short transaction. Its tournaments follow in others,
also after a crash, and whoever asked for the change gets the answer after the last of them.
"""

from collections.abc import Collection, Sequence

import msgspec
from sqlalchemy import Connection, delete, select, text, update

from silverball.kit.conversions import decode
from silverball.store.tables import site_value
from silverball.store.transaction import Transaction

NAME = "announcing "
# An account in no more tournaments than these changes in one transaction with all of them.
TOURNAMENTS_AT_ONCE = 100
_ROW = site_value.c
_ADD = text("INSERT INTO site_value (name, value) VALUES (:name, :value) ON CONFLICT (name) DO NOTHING")


class PendingAnnouncement(msgspec.Struct, kw_only=True):
    """An account that has changed, and how far its tournaments have followed."""

    user_id: int
    # Whether it hides something that older announcements show.
    is_hiding: bool = False
    # Of an erased account: the name, and the ids of the players that it had claimed.
    erased_name: str | None = None
    player_ids: Sequence[int] = ()
    # Tournaments follow in the order of their ids; this is the newest that has.
    tournament_id: int = 0

    @property
    def key(self) -> str:
        return f"{NAME}{self.user_id}"


def are_many(transaction: Transaction, tournament_ids: Collection[int]) -> bool:
    """Whether an account in these tournaments changes in a transaction before theirs."""
    return transaction.may_defer and len(tournament_ids) > TOURNAMENTS_AT_ONCE


def defer(transaction: Transaction, pending: PendingAnnouncement) -> None:
    """Note that the account's tournaments have to follow, from the first one on.

    Adds to what an earlier change of the account has left to do. Called before tournaments are locked, as
    their slices lock in this order too.
    """
    db, transaction.defers = transaction.connection, True
    row = {"name": pending.key, "value": _encode(pending)}
    # Another transaction may finish an earlier change in between.
    while not db.execute(_ADD, row).rowcount:
        earlier = find(db, pending.user_id, is_locked=True)
        if earlier is not None:
            # Somebody hides something once more, because the first time was not finished.
            transaction.hides |= earlier.is_hiding
            save_progress(db, _with_earlier(pending, earlier))
            return


def _with_earlier(pending: PendingAnnouncement, earlier: PendingAnnouncement) -> PendingAnnouncement:
    return msgspec.structs.replace(
        pending,
        is_hiding=pending.is_hiding or earlier.is_hiding,
        erased_name=earlier.erased_name if pending.erased_name is None else pending.erased_name,
        player_ids=sorted({*pending.player_ids, *earlier.player_ids}),
    )


def first_pending(db: Connection) -> PendingAnnouncement | None:
    """The account whose tournaments follow next."""
    rows = select(_ROW.value).where(_ROW.name.startswith(NAME, autoescape=True)).order_by(_ROW.name).limit(1)
    value = db.execute(rows).scalar_one_or_none()
    return None if value is None else _decode(value)


def find(db: Connection, user_id: int, *, is_locked: bool = False) -> PendingAnnouncement | None:
    """The account's tournaments that have to follow; None when all have."""
    rows = select(_ROW.value).where(_ROW.name == f"{NAME}{user_id}")
    value = db.execute(rows.with_for_update() if is_locked else rows).scalar_one_or_none()
    return None if value is None else _decode(value)


def save_progress(db: Connection, pending: PendingAnnouncement) -> None:
    """Note how far the tournaments have followed."""
    db.execute(update(site_value).where(_ROW.name == pending.key).values(value=_encode(pending)))


def finish(db: Connection, pending: PendingAnnouncement) -> None:
    """All tournaments have followed."""
    db.execute(delete(site_value).where(_ROW.name == pending.key))


def _encode(pending: PendingAnnouncement) -> str:
    return msgspec.json.encode(pending).decode()


def _decode(value: str) -> PendingAnnouncement:
    return decode(value, PendingAnnouncement)
