"""Banks: arenas that are drawn together."""

from collections.abc import Iterable
from typing import Annotated, Any

from msgspec import Meta
from sqlalchemy import ColumnElement, Connection, and_, bindparam, func, select

from silverball.kit.errors import NotFound
from silverball.kit.http.query import PageNumber, Query
from silverball.service.pages import PageRows, refuse_deep_pagination
from silverball.store import tables
from silverball_wire.banks import Bank
from silverball_wire.base import Id
from silverball_wire.values import Status

PER_PAGE = 100
_BANK, _LINEUP, _MEMBER = tables.bank.c, tables.lineup_bank.c, tables.bank_arena.c
# The order in which `_banks_from_rows` unpacks them: one row for each arena of a bank.
_COLUMNS = (_BANK.bank_id, _BANK.name, _BANK.status, _BANK.organizer_id, _MEMBER.arena_id)
_ROWS = (
    select(*_COLUMNS).select_from(tables.bank).outerjoin(tables.bank_arena, _MEMBER.bank_id == _BANK.bank_id)
)
_TOURNAMENT_BANKS = (
    _ROWS.join(tables.lineup_bank, _LINEUP.bank_id == _BANK.bank_id)
    .where(_LINEUP.tournament_id == bindparam("tournament_id"))
    .order_by(_LINEUP.place, _BANK.bank_id, _MEMBER.place)
)


class BankQuery(Query, frozen=True, kw_only=True):
    """Parameters of GET /api/banks; as those of arenas."""

    status: Status | None = None
    banks: Annotated[tuple[Id, ...], Meta(max_length=25)] = ()
    """Ids of banks: only these."""
    page: PageNumber = 1


def banks_in_tournament(db: Connection, tournament_id: int) -> tuple[Bank, ...]:
    """The banks of the tournament in the order in which they were added, their arenas in order."""
    return _banks_from_rows(db.execute(_TOURNAMENT_BANKS, {"tournament_id": tournament_id}))


def owned_by(db: Connection, organizer_id: int, query: BankQuery) -> PageRows[Bank]:
    """One page of the organizer's banks, oldest first."""
    refuse_deep_pagination(query.page, PER_PAGE)
    condition = _conditions(organizer_id, query)
    total = db.execute(select(func.count()).select_from(tables.bank).where(condition)).scalar_one()
    ids = select(_BANK.bank_id).where(condition).order_by(_BANK.bank_id)
    page_ids = ids.limit(PER_PAGE).offset(PER_PAGE * (query.page - 1)).subquery()
    rows = _ROWS.where(_BANK.bank_id.in_(select(page_ids.c.bank_id))).order_by(_BANK.bank_id, _MEMBER.place)
    return PageRows(list(_banks_from_rows(db.execute(rows))), total)


def find_bank(db: Connection, bank_id: int) -> Bank:
    """The bank. Raises NotFound."""
    selected = _banks_from_rows(db.execute(_ROWS.where(_BANK.bank_id == bank_id).order_by(_MEMBER.place)))
    if not selected:
        raise NotFound("Bank", bank_id)
    return selected[0]


def _conditions(organizer_id: int, query: BankQuery) -> ColumnElement[bool]:
    conditions = [_BANK.organizer_id == organizer_id]
    if query.status is not None:
        conditions.append(_BANK.status == query.status)
    if query.banks:
        conditions.append(_BANK.bank_id.in_(query.banks))
    return and_(*conditions)


def _banks_from_rows(rows: Iterable[Any]) -> tuple[Bank, ...]:
    """The banks in these rows, in their order."""
    arena_ids: dict[int, list[int]] = {}
    banks = {}
    for bank_id, name, status, organizer_id, arena_id in rows:
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
