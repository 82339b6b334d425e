"""Changing the banks of somebody's book."""

from collections.abc import Sequence
from typing import Annotated, Any

from msgspec import UNSET, Meta, UnsetType
from sqlalchemy import delete, insert, select

from silverball.kit.errors import Conflict, Invalid
from silverball.kit.http.body import Body
from silverball.kit.http.fields import Id, Name
from silverball.service import ownership
from silverball.service.calls import Write
from silverball.service.events import feed_events
from silverball.store import book
from silverball.store.tables import bank_arena, lineup_bank, tournament
from silverball.wire.values import Status

ArenaIds = Annotated[tuple[Id, ...], Meta(max_length=100)]


class NewBank(Body, frozen=True, kw_only=True):
    """A bank for the caller's book; its arenas are played in this order."""

    name: Name
    status: Status = "active"
    arena_ids: ArenaIds = ()


class ChangedBank(Body, frozen=True, kw_only=True):
    """What is different about a bank."""

    name: Name | UnsetType = UNSET
    status: Status | UnsetType = UNSET
    arena_ids: ArenaIds | UnsetType = UNSET


def add_bank(call: Write[NewBank]) -> int:
    """A new bank of the caller; returns its id."""
    _refuse_faulty_arenas(call, call.body.arena_ids, call.user_id)
    bank_id = book.add(call.db, book.BANK, call.user_id, ownership.sent_values(call.body, "arena_ids"))
    _insert_arenas(call, bank_id, call.body.arena_ids)
    return bank_id


def change_bank(call: Write[ChangedBank]) -> int:
    """The bank in the path, different now. Raises Conflict for other arenas while it is being played."""
    bank_id = ownership.owned_id_in_path(call, book.BANK)
    arena_ids = call.body.arena_ids
    if arena_ids is not UNSET:
        _refuse_faulty_arenas(call, arena_ids, book.lock_owner(call.db, book.BANK, bank_id))
        _refuse_if_played(call, bank_id)
        call.db.execute(delete(bank_arena).where(bank_arena.c.bank_id == bank_id))
        _insert_arenas(call, bank_id, arena_ids)
    book.change(call.db, book.BANK, bank_id, ownership.sent_values(call.body, "arena_ids"))
    feed_events.announce_banks(call.transaction, [bank_id])
    return bank_id


def require_removable(call: Write[Body]) -> int:
    """The bank in the path. Raises Conflict when a tournament has it."""
    bank_id = ownership.owned_id_in_path(call, book.BANK, is_exclusive=True)
    ownership.refuse_used(call, book.BANK, bank_id, "Set the bank inactive instead.")
    return bank_id


def _insert_arenas(call: Write[Any], bank_id: int, arena_ids: Sequence[int]) -> None:
    rows = [{"bank_id": bank_id, "place": place, "arena_id": one} for place, one in enumerate(arena_ids)]
    if rows:
        call.db.execute(insert(bank_arena), rows)


def _refuse_faulty_arenas(call: Write[Any], arena_ids: Sequence[int], owner_id: int) -> None:
    twice = [one for one in arena_ids if arena_ids.count(one) > 1]
    if twice:
        raise Invalid({"arenaIds": [f"Arena {twice[0]} is named twice."]})
    ownership.require_owned_ids(call, book.ARENA, "arenaIds", arena_ids, owner_id)


def _refuse_if_played(call: Write[Any], bank_id: int) -> None:
    """Its arenas are part of what a running tournament draws and its journal tells."""
    rows = (
        select(lineup_bank.c.tournament_id)
        .join(tournament, tournament.c.tournament_id == lineup_bank.c.tournament_id)
        .where(lineup_bank.c.bank_id == bank_id, tournament.c.status == "started")
    )
    found = call.db.execute(rows.order_by(lineup_bank.c.tournament_id).limit(1)).scalar_one_or_none()
    if found is not None:
        raise Conflict(
            f"Tournament {found} is being played with bank {bank_id}. Take the bank out there first, or make"
            " an arena inactive in the tournament."
        )
