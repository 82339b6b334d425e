"""Actions of a book as a whole, with what it takes to undo them: a merge of arenas, a list that was read.

A tournament has its journal; a book has these rows, of which the newest are kept.
"""

import hashlib
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any

import msgspec
from msgspec import Struct
from sqlalchemy import Connection, Select, delete, insert, select, update

from silverball.kit.errors import NotFound
from silverball.store import tables
from silverball.store.people.book import OwnedKind

ARENAS_MERGED, PLAYERS_IMPORTED, ARENAS_IMPORTED = "arenasMerged", "playersImported", "arenasImported"
# Why a row that a list brought stays.
USED, CHANGED, NUMBER = "used", "changed", "number"
# Of each book.
ACTIONS_KEPT = 50
# What an undo looks at: a row that has another value by now stays.
WATCHED = {
    "Player": ("name", "ifpa_id", "status", "labels", "label_color", "claimed_by"),
    "Arena": ("name", "opdb_id", "category_id", "status", "labels", "label_color"),
}
_ACTION = tables.book_action.c


class BookAction(Struct, frozen=True):
    """An action with what its undo needs."""

    book_action_id: int
    user_id: int
    kind: str
    data: dict[str, Any]
    at: datetime
    undone_at: datetime | None


def record(db: Connection, user_id: int, kind: str, data: Mapping[str, Any], now: datetime) -> int:
    """Store an action of this account's book, and forget the oldest ones; returns the id."""
    values = {"user_id": user_id, "kind": kind, "data": data, "at": now}
    row = insert(tables.book_action).values(**values).returning(_ACTION.book_action_id)
    action_id = int(db.execute(row).scalar_one())
    kept = select(_ACTION.book_action_id).where(_ACTION.user_id == user_id)
    oldest = kept.order_by(_ACTION.book_action_id.desc()).limit(1).offset(ACTIONS_KEPT - 1).scalar_subquery()
    db.execute(delete(tables.book_action).where(_ACTION.user_id == user_id, _ACTION.book_action_id < oldest))
    return action_id


def newest(db: Connection, user_id: int, most: int = ACTIONS_KEPT) -> list[BookAction]:
    """The actions of this account's book, newest first."""
    rows = select(tables.book_action).where(_ACTION.user_id == user_id)
    return _load(db, rows.order_by(_ACTION.book_action_id.desc()).limit(most))


def find(db: Connection, action_id: int, *, is_locked: bool = False) -> BookAction:
    """The action; locked, nobody else undoes it before the commit. Raises NotFound."""
    rows = select(tables.book_action).where(_ACTION.book_action_id == action_id)
    found = _load(db, rows.with_for_update() if is_locked else rows)
    if not found:
        raise NotFound("Book action", action_id)
    return found[0]


def mark_undone(db: Connection, action: BookAction, data: Mapping[str, Any], now: datetime) -> None:
    """Store that the action was undone, with what is worth knowing of that."""
    row = update(tables.book_action).where(_ACTION.book_action_id == action.book_action_id)
    db.execute(row.values(data=data, undone_at=now))


def forget_players(db: Connection, player_ids: Collection[int]) -> None:
    """Remove people whose account is erased from what lists brought: from digests names can be guessed."""
    player = tables.player.c
    owners = select(player.organizer_id).where(player.player_id.in_(player_ids))
    rows = select(tables.book_action).where(_ACTION.user_id.in_(owners), _ACTION.kind == PLAYERS_IMPORTED)
    for action in _load(db, rows):
        data = {
            name: [each for each in value if each["player_id"] not in player_ids]
            for name, value in action.data.items()
        }
        if data != action.data:
            row = update(tables.book_action).where(_ACTION.book_action_id == action.book_action_id)
            db.execute(row.values(data=data))


def digests(
    db: Connection, kind: OwnedKind, ids: Collection[int], *, is_locked: bool = False
) -> dict[int, str]:
    """Id -> digest of what the book says of it, for the rows that exist. Digests keep no names."""
    columns = [kind.table.c[name] for name in WATCHED[kind.model]]
    rows = select(kind.key.label("key"), *columns).where(kind.key.in_(ids)).order_by(kind.key)
    found = db.execute(rows.with_for_update() if is_locked else rows)
    return {row.key: digest(list(row)[1:]) for row in found}


def digest(value: Any) -> str:
    """A digest of a value, by which a later one is known as the same."""
    return hashlib.blake2b(msgspec.json.encode(value), digest_size=16).hexdigest()


def _load(db: Connection, rows: Select[Any]) -> list[BookAction]:
    return [BookAction(**row._mapping) for row in db.execute(rows)]


def merges_of(actions: Sequence[BookAction], removed_id: int) -> list[BookAction]:
    """The merges of this arena into others that are in force."""
    return [
        action
        for action in actions
        if action.kind == ARENAS_MERGED
        and action.undone_at is None
        and action.data["removed_id"] == removed_id
    ]
