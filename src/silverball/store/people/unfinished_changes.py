"""Accounts that have changed, and what is left to do for it: kept until it is done.

An account that was erased, or that is in many tournaments, changes in one short transaction. A job does the
rest in others, also after a crash. Version 0.2.0 kept both kinds under the same names; what it has left is
finished here.
"""

from collections.abc import Sequence

import msgspec
from sqlalchemy import Connection, delete, or_, select, text, update

from silverball.kit.values import decode
from silverball.store.tables import site_value

ERASURE, CHANGE = "erasure ", "announcing "
_ROW = site_value.c
_IS_UNFINISHED = or_(*(_ROW.name.startswith(name, autoescape=True) for name in (ERASURE, CHANGE)))
_UNFINISHED = select(_ROW.value).where(_IS_UNFINISHED).order_by(_ROW.name)
_ADD = text("INSERT INTO site_value (name, value) VALUES (:name, :value) ON CONFLICT (name) DO NOTHING")


class UnfinishedChange(msgspec.Struct, kw_only=True):
    """An account that has changed, and how far the rest has come."""

    user_id: int
    # Whether it hides something that older announcements show.
    is_hiding: bool = False
    # Of an erased account: its name, its players (id -> name), and the ids of those merged into them.
    name: str | None = None
    players: dict[int, str] = {}
    merged_ids: Sequence[int] = ()
    # The number of steps that are done, and how far the present one has come: the newest tournament, line of
    # the journal, and account with stored replies.
    step: int = 0
    tournament_id: int = 0
    journal_id: int = 0
    reply_owner_id: int = 0
    is_forgetting: bool = False

    @property
    def key(self) -> str:
        return f"{CHANGE if self.name is None else ERASURE}{self.user_id}"

    @property
    def is_untouched(self) -> bool:
        """Whether nothing of the rest is done."""
        return self.step == self.tournament_id == 0

    @property
    def player_ids(self) -> set[int]:
        """The players of an erased account, and those that were merged into them."""
        return {*self.players, *self.merged_ids}


def begin(db: Connection, change: UnfinishedChange) -> None:
    """Note what is left to do, from the beginning, and with it what an earlier change has left to do.

    Called before tournaments are locked, as the job locks in this order too.
    """
    # The job may finish an earlier change in between.
    while not db.execute(_ADD, {"name": change.key, "value": _encode(change)}).rowcount:
        row = select(_ROW.value).where(_ROW.name == change.key).with_for_update()
        value = db.execute(row).scalar_one_or_none()
        if value is not None:
            earlier = decode(value, UnfinishedChange)
            is_hiding = change.is_hiding or earlier.is_hiding
            save(db, msgspec.structs.replace(change, is_hiding=is_hiding))
            return


def lock_next(db: Connection) -> UnfinishedChange | None:
    """A change on which no other process works now."""
    value = db.execute(_UNFINISHED.limit(1).with_for_update(skip_locked=True)).scalar_one_or_none()
    return None if value is None else decode(value, UnfinishedChange)


def unfinished_changes(db: Connection) -> list[UnfinishedChange]:
    """Every change that is not finished: nearly always none."""
    return [decode(value, UnfinishedChange) for value in db.execute(_UNFINISHED).scalars()]


def save(db: Connection, change: UnfinishedChange) -> None:
    """Note how far it has come."""
    db.execute(update(site_value).where(_ROW.name == change.key).values(value=_encode(change)))


def finish(db: Connection, change: UnfinishedChange) -> None:
    """Nothing is left to do: forget the person for good."""
    db.execute(delete(site_value).where(_ROW.name == change.key))


def _encode(change: UnfinishedChange) -> str:
    return msgspec.json.encode(change).decode()
