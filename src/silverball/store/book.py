"""Rows that belong to one account: players, arenas, banks, locations, series, occasions, clubs."""

from collections.abc import Mapping
from typing import Any

from msgspec import Struct
from sqlalchemy import Column, Connection, Table, delete, insert, select, update

from silverball.kit.errors import NotFound
from silverball.store import tables


class OwnedKind(Struct, frozen=True):
    """A table whose rows have an owner. `model` is the name in a 404, `path_name` the id in a path."""

    table: Table
    model: str
    path_name: str
    key_name: str
    owner_name: str = "organizer_id"

    @property
    def key(self) -> Column[int]:
        return self.table.c[self.key_name]

    @property
    def owner(self) -> Column[int]:
        return self.table.c[self.owner_name]


PLAYER = OwnedKind(tables.player, "Player", "player_id", "player_id")
ARENA = OwnedKind(tables.arena, "Arena", "arena_id", "arena_id")
BANK = OwnedKind(tables.bank, "Bank", "bank_id", "bank_id")
LOCATION = OwnedKind(tables.location, "Location", "location_id", "location_id")
SERIES = OwnedKind(tables.series, "Series", "series_id", "series_id")
OCCASION = OwnedKind(tables.occasion, "Event", "event_id", "occasion_id")
CLUB = OwnedKind(tables.club, "Club", "club_id", "club_id", "user_id")


def lock_owner(db: Connection, kind: OwnedKind, row_id: int, *, is_exclusive: bool = False) -> int:
    """Lock the row against changes and return the id of its owner. Raises NotFound.

    `is_exclusive` also keeps other transactions from referring to the row.
    """
    rows = select(kind.owner).where(kind.key == row_id).with_for_update(key_share=not is_exclusive)
    owner_id = db.execute(rows).scalar_one_or_none()
    if owner_id is None:
        raise NotFound(kind.model, row_id)
    return owner_id


def add(db: Connection, kind: OwnedKind, owner_id: int, values: Mapping[str, Any]) -> int:
    """Insert a row and return its id."""
    row = {kind.owner_name: owner_id, **values}
    return int(db.execute(insert(kind.table).values(row).returning(kind.key)).scalar_one())


def change(db: Connection, kind: OwnedKind, row_id: int, values: Mapping[str, Any]) -> None:
    """Set these columns of a row."""
    if values:
        db.execute(update(kind.table).where(kind.key == row_id).values(**values))


def remove(db: Connection, kind: OwnedKind, row_id: int) -> None:
    """Delete a row."""
    db.execute(delete(kind.table).where(kind.key == row_id))


def owners_by_id(db: Connection, kind: OwnedKind, ids: set[int]) -> dict[int, int]:
    """Id -> id of the owner, for the rows that exist."""
    rows = select(kind.key.label("key"), kind.owner.label("owner_id")).where(kind.key.in_(ids))
    return {row.key: row.owner_id for row in db.execute(rows)}
