"""Banks of an organizer's book, added and changed."""

from collections.abc import Sequence
from typing import Annotated, Any

from msgspec import UNSET, Meta, UnsetType
from sqlalchemy import delete, insert, select

from silverball.kit.errors import Conflict, Invalid, Sentence
from silverball.kit.http.body import Body
from silverball.kit.http.fields import Id, Name
from silverball.service import ownership
from silverball.service.calls import Write
from silverball.service.events import feed_events
from silverball.store import book
from silverball.store.tables import bank_arena, lineup_bank, tournament
from silverball_wire.values import Status

ArenaIds = Annotated[tuple[Id, ...], Meta(max_length=100)]


class NewBank(Body, frozen=True, kw_only=True):
    """A bank for the caller's book; its arenas are played in this order."""

    name: Name
    status: Status = "active"
    arena_ids: ArenaIds = ()


class ChangedBank(Body, frozen=True, kw_only=True):
    """Changes to a bank."""

    name: Name | UnsetType = UNSET
    status: Status | UnsetType = UNSET
    arena_ids: ArenaIds | UnsetType = UNSET


class BankInUse(Conflict):
    sentence = (
        "Tournament {tournament} is being played with bank {bank}. Remove the bank there first, "
        "or set an arena inactive in the tournament."
    )


def add_bank(call: Write[NewBank]) -> int:
    """Add a bank of the caller; returns its id."""
    _refuse_faulty_arenas(call, call.body.arena_ids, call.user_id)
    bank_id = book.add(call.db, book.BANK, call.user_id, ownership.sent_values(call.body, "arena_ids"))
    _insert_arenas(call, bank_id, call.body.arena_ids)
    return bank_id


def change_bank(call: Write[ChangedBank]) -> int:
    """Change the bank in the path; returns its id. Raises Conflict for other arenas during play."""
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
    """The id of the bank in the path. Raises Conflict when a tournament uses it."""
    bank_id = ownership.owned_id_in_path(call, book.BANK, is_exclusive=True)
    ownership.refuse_used(call, book.BANK, bank_id, "Set the bank inactive instead.")
    return bank_id


def _insert_arenas(call: Write[Any], bank_id: int, arena_ids: Sequence[int]) -> None:
    rows = [
        {"bank_id": bank_id, "place": place, "arena_id": arena_id} for place, arena_id in enumerate(arena_ids)
    ]
    if rows:
        call.db.execute(insert(bank_arena), rows)


def _refuse_faulty_arenas(call: Write[Any], arena_ids: Sequence[int], owner_id: int) -> None:
    twice = [arena_id for arena_id in arena_ids if arena_ids.count(arena_id) > 1]
    if twice:
        raise Invalid({"arenaIds": [Sentence("{arena} is named twice.", arena=twice[0])]})
    ownership.require_owned_ids(call, book.ARENA, "arenaIds", arena_ids, owner_id)


def _refuse_if_played(call: Write[Any], bank_id: int) -> None:
    """Raise Conflict while a running tournament draws the bank's arenas, which its journal refers to."""
    rows = (
        select(lineup_bank.c.tournament_id)
        .join(tournament, tournament.c.tournament_id == lineup_bank.c.tournament_id)
        .where(lineup_bank.c.bank_id == bank_id, tournament.c.status == "started")
    )
    tournament_id = call.db.execute(rows.order_by(lineup_bank.c.tournament_id).limit(1)).scalar_one_or_none()
    if tournament_id is not None:
        raise BankInUse(tournament=tournament_id, bank=bank_id)
