"""Banks: arenas that are drawn together."""

from sqlalchemy import Connection, bindparam, select

from silverball.store import tables
from silverball.wire.banks import Bank

_BANK, _LINEUP, _MEMBER = tables.bank.c, tables.lineup_bank.c, tables.bank_arena.c
_BANKS = (
    select(_BANK.bank_id, _BANK.name, _BANK.status, _BANK.organizer_id, _MEMBER.arena_id)
    .select_from(tables.bank)
    .join(tables.lineup_bank, _LINEUP.bank_id == _BANK.bank_id)
    .outerjoin(tables.bank_arena, _MEMBER.bank_id == _BANK.bank_id)
    .where(_LINEUP.tournament_id == bindparam("tournament_id"))
    .order_by(_LINEUP.place, _BANK.bank_id, _MEMBER.place)
)


def of_tournament(db: Connection, tournament_id: int) -> tuple[Bank, ...]:
    """The banks of the tournament in the order they were added, their arenas in order."""
    arena_ids: dict[int, list[int]] = {}
    banks = {}
    for bank_id, name, status, organizer_id, arena_id in db.execute(_BANKS, {"tournament_id": tournament_id}):
        banks[bank_id] = (name, status, organizer_id)
        arena_ids.setdefault(bank_id, [])
        if arena_id is not None:
            arena_ids[bank_id].append(arena_id)
    return tuple(
        Bank(
            bank_id=bank_id,
            name=name,
            status=status,
            organizer_id=organizer_id,
            arena_ids=tuple(arena_ids[bank_id]),
        )
        for bank_id, (name, status, organizer_id) in banks.items()
    )
