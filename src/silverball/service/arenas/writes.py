"""Arenas of an organizer's book, added and changed."""

from typing import Annotated

from msgspec import UNSET, Meta, UnsetType
from sqlalchemy import select

from silverball.kit.errors import Conflict
from silverball.kit.http.body import Body
from silverball.kit.http.fields import Color, Id, Labels, Name
from silverball.service import ownership
from silverball.service.calls import Write
from silverball.service.events import feed_events
from silverball.service.machines import reads as machines
from silverball.store import book
from silverball.store.tables import bank_arena
from silverball_wire.values import Status

OpdbId = Annotated[str, Meta(max_length=40)]


class NewArena(Body, frozen=True, kw_only=True):
    """An arena for the caller's book."""

    name: Name
    status: Status = "active"
    opdb_id: OpdbId | None = None
    category_id: Id | None = None
    labels: Labels = ()
    label_color: Color | None = None


class ChangedArena(Body, frozen=True, kw_only=True):
    """Changes to an arena."""

    name: Name | UnsetType = UNSET
    status: Status | UnsetType = UNSET
    opdb_id: OpdbId | UnsetType | None = UNSET
    category_id: Id | UnsetType | None = UNSET
    labels: Labels | UnsetType = UNSET
    label_color: Color | UnsetType | None = UNSET


class ArenaInBank(Conflict):
    sentence = "{arena} is in bank {bank}. Remove it there first."


def add_arena(call: Write[NewArena]) -> int:
    """Add an arena of the caller; returns its id. Raises Invalid for a machine id that cannot be one."""
    _require_machine(call)
    return book.add(call.db, book.ARENA, call.user_id, ownership.sent_values(call.body))


def change_arena(call: Write[ChangedArena]) -> int:
    """Change the arena in the path; returns its id. Raises Invalid as `add_arena` does."""
    arena_id = ownership.owned_id_in_path(call, book.ARENA)
    _require_machine(call)
    book.change(call.db, book.ARENA, arena_id, ownership.sent_values(call.body))
    feed_events.announce_arenas(call.transaction, [arena_id])
    return arena_id


def _require_machine(call: Write[NewArena] | Write[ChangedArena]) -> None:
    if isinstance(call.body.opdb_id, str):
        machines.require_known_id(call.db, "opdbId", call.body.opdb_id)


def require_removable(call: Write[Body]) -> int:
    """The id of the arena in the path. Raises Conflict when a tournament or a bank uses it."""
    arena_id = ownership.owned_id_in_path(call, book.ARENA, is_exclusive=True)
    ownership.refuse_used(call, book.ARENA, arena_id, "Set the arena inactive instead.")
    rows = (
        select(bank_arena.c.bank_id).where(bank_arena.c.arena_id == arena_id).order_by(bank_arena.c.bank_id)
    )
    bank_id = call.db.execute(rows.limit(1)).scalar_one_or_none()
    if bank_id is not None:
        raise ArenaInBank(arena=arena_id, bank=bank_id)
    return arena_id
