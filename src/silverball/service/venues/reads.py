"""Arenas of a book and of a tournament's lineup, banks (arenas that are drawn together), and locations."""

from collections.abc import Iterable, Sequence
from typing import Annotated, Any

from msgspec import Meta
from sqlalchemy import ColumnElement, Connection, and_, bindparam, func, literal, select

from silverball.kit.errors import NotFound
from silverball.kit.http.query import PageNumber, Query
from silverball.kit.values import compile_copy
from silverball.service.core.calls import PageRows, refuse_deep_pagination
from silverball.store import tables
from silverball.store.database.conditions import is_among
from silverball.store.database.statements import NamedRow, RowMapper, Statement
from silverball.store.people import names
from silverball_wire.arenas import Arena, Bank, LineupArenaPart, Location
from silverball_wire.base import UNSET, Id
from silverball_wire.values import Status

PER_PAGE = 100
SEARCH_RESULTS_MAX = 200
_ARENA, _LINEUP = tables.arena.c, tables.lineup_arena.c
ROW = RowMapper(
    _ARENA.arena_id,
    _ARENA.name,
    _ARENA.status,
    _ARENA.opdb_id,
    _ARENA.category_id,
    _ARENA.organizer_id,
    _ARENA.labels,
    _ARENA.label_color,
)
LINEUP_ROW = RowMapper(
    *ROW.columns,
    _LINEUP.status.label("lineup_status"),
    _LINEUP.preferred,
    _LINEUP.scorbit_venuemachine_id,
    _LINEUP.scorbit_venuemachine_uuid,
    _LINEUP.scorbitron_installed,
    _LINEUP.amazing_race_seed,
    _LINEUP.best_game_blocked,
    _LINEUP.best_game_queue_closed,
    _LINEUP.labels.label("lineup_labels"),
    _LINEUP.label_color.label("lineup_label_color"),
)
# The arenas of games, loaded with every result.
_ARENAS_BY_ID = Statement(
    select(*ROW.columns).where(is_among(_ARENA.arena_id, "ids")).order_by(_ARENA.arena_id), mapper=ROW
)
_LINEUP_ROWS = (
    select(*LINEUP_ROW.columns)
    .join(tables.lineup_arena, _LINEUP.arena_id == _ARENA.arena_id)
    .where(_LINEUP.tournament_id == bindparam("tournament_id"))
)
_WHOLE_LINEUP = _LINEUP_ROWS.order_by(_LINEUP.place, _ARENA.arena_id)
_SELECTED_LINEUP = _LINEUP_ROWS.where(_ARENA.arena_id.in_(bindparam("arena_ids", expanding=True))).order_by(
    _ARENA.arena_id
)


class ArenaQuery(Query, frozen=True, kw_only=True):
    """Parameters of GET /api/arenas. Source: interface 4.1 and 8."""

    status: Status | None = None
    arenas: Annotated[tuple[Id, ...], Meta(max_length=25)] = ()
    """Ids of arenas: only these."""
    page: PageNumber = 1


_arena = compile_copy(Arena, others=("tournament_arena",))


def arena_item(row: NamedRow) -> Arena:
    """The arena in a row of ROW."""
    return _arena(row, tournament_arena=UNSET)


def _lineup_arena_item(row: NamedRow) -> Arena:
    """The arena in a row of LINEUP_ROW, with its part in the lineup."""
    part = LineupArenaPart(
        status=row.lineup_status,
        preferred=row.preferred,
        scorbit_venuemachine_id=row.scorbit_venuemachine_id,
        scorbit_venuemachine_uuid=row.scorbit_venuemachine_uuid,
        scorbitron_installed=row.scorbitron_installed,
        amazing_race_seed=row.amazing_race_seed,
        best_game_blocked=row.best_game_blocked,
        best_game_queue_closed=row.best_game_queue_closed,
        labels=row.lineup_labels,
        label_color=row.lineup_label_color,
    )
    return _arena(row, tournament_arena=part)


def arenas_owned_by(db: Connection, organizer_id: int, query: ArenaQuery) -> PageRows[Arena]:
    """One page of the organizer's arenas, oldest first."""
    refuse_deep_pagination(query.page, PER_PAGE)
    condition = _arena_conditions(organizer_id, query)
    total = db.execute(select(func.count()).select_from(tables.arena).where(condition)).scalar_one()
    rows = select(*ROW.columns).where(condition).order_by(_ARENA.arena_id)
    rows = rows.limit(PER_PAGE).offset(PER_PAGE * (query.page - 1))
    return PageRows([arena_item(row) for row in db.execute(rows).all()], total)


def _arena_conditions(organizer_id: int, query: ArenaQuery) -> ColumnElement[bool]:
    conditions = [_ARENA.organizer_id == organizer_id]
    if query.status is not None:
        conditions.append(_ARENA.status == query.status)
    if query.arenas:
        conditions.append(_ARENA.arena_id.in_(query.arenas))
    return and_(*conditions)


def existing_arenas(db: Connection, arena_ids: Sequence[int]) -> tuple[Arena, ...]:
    """Those of the given arenas that exist, by id."""
    return tuple([arena_item(row) for row in _ARENAS_BY_ID.rows(db, ids=arena_ids)])


def search_arenas(db: Connection, organizer_id: int, words: str) -> tuple[Arena, ...]:
    """Active arenas of the organizer whose name contains these words, by name; 200 at most."""
    rows = select(*ROW.columns).where(_ARENA.organizer_id == organizer_id, _ARENA.status == "active")
    if words:
        rows = rows.where(names.NameContains(_ARENA.name, literal(words)))
    rows = rows.order_by(_ARENA.name, _ARENA.arena_id).limit(SEARCH_RESULTS_MAX)
    return tuple(arena_item(row) for row in db.execute(rows).all())


def lineup_arenas(db: Connection, tournament_id: int) -> tuple[Arena, ...]:
    """The arenas of the tournament, in the order in which they were added."""
    return _lineup_items(db.execute(_WHOLE_LINEUP, {"tournament_id": tournament_id}))


def selected_lineup_arenas(db: Connection, tournament_id: int, arena_ids: Sequence[int]) -> tuple[Arena, ...]:
    """Those of the given arenas that are in the tournament, by id."""
    key = {"tournament_id": tournament_id, "arena_ids": arena_ids}
    return _lineup_items(db.execute(_SELECTED_LINEUP, key))


def _lineup_items(rows: Iterable[Any]) -> tuple[Arena, ...]:
    return tuple([_lineup_arena_item(row) for row in LINEUP_ROW.rows(rows)])


def find_arena(db: Connection, arena_id: int) -> Arena:
    """The arena. Raises NotFound."""
    selected = existing_arenas(db, [arena_id])
    if not selected:
        raise NotFound("Arena", arena_id)
    return selected[0]


_BANK, _BANK_LINEUP, _MEMBER = tables.bank.c, tables.lineup_bank.c, tables.bank_arena.c
# The order in which `_banks_from_rows` unpacks them: one row for each arena of a bank.
_COLUMNS = (_BANK.bank_id, _BANK.name, _BANK.status, _BANK.organizer_id, _MEMBER.arena_id)
_ROWS = (
    select(*_COLUMNS).select_from(tables.bank).outerjoin(tables.bank_arena, _MEMBER.bank_id == _BANK.bank_id)
)
_TOURNAMENT_BANKS = (
    _ROWS.join(tables.lineup_bank, _BANK_LINEUP.bank_id == _BANK.bank_id)
    .where(_BANK_LINEUP.tournament_id == bindparam("tournament_id"))
    .order_by(_BANK_LINEUP.place, _BANK.bank_id, _MEMBER.place)
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


def banks_owned_by(db: Connection, organizer_id: int, query: BankQuery) -> PageRows[Bank]:
    """One page of the organizer's banks, oldest first."""
    refuse_deep_pagination(query.page, PER_PAGE)
    condition = _bank_conditions(organizer_id, query)
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


def _bank_conditions(organizer_id: int, query: BankQuery) -> ColumnElement[bool]:
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


LOCATIONS_PER_PAGE = 500
_LOCATION = tables.location.c
NAMES_MAX = 500
LOCATIONS_ROW = RowMapper(
    _LOCATION.location_id,
    _LOCATION.scorbit_venue_id,
    _LOCATION.scorbit_venue_uuid,
    _LOCATION.pinballmap_id,
    _LOCATION.name,
    _LOCATION.organizer_id,
    _LOCATION.status,
    _LOCATION.address,
    _LOCATION.lat,
    _LOCATION.lng,
)


class LocationQuery(Query, frozen=True, kw_only=True):
    """Parameters of GET /api/locations. Source: interface 4.1 and 8."""

    status: Status | None = None
    locations: Annotated[tuple[Id, ...], Meta(max_length=25)] = ()
    """Ids of locations: only these."""
    page: PageNumber = 1


# The location in a row of LOCATIONS_ROW.
location_item = compile_copy(Location)


def location_or_none(row: NamedRow) -> Location | None:
    """The location in ROW of an outer join; None when it has none."""
    return None if row.location_id is None else location_item(row)


def locations_owned_by(db: Connection, organizer_id: int, query: LocationQuery) -> PageRows[Location]:
    """One page of the organizer's locations, oldest first."""
    refuse_deep_pagination(query.page, LOCATIONS_PER_PAGE)
    wanted = _location_conditions(organizer_id, query)
    total = db.execute(select(func.count()).select_from(tables.location).where(wanted)).scalar_one()
    rows = select(*LOCATIONS_ROW.columns).where(wanted).order_by(_LOCATION.location_id)
    rows = rows.limit(LOCATIONS_PER_PAGE).offset(LOCATIONS_PER_PAGE * (query.page - 1))
    return PageRows([location_item(row) for row in db.execute(rows)], total)


def location_names(db: Connection, organizer_id: int) -> list[tuple[int, str]]:
    """Id and name of the organizer's active locations, by name."""
    rows = select(_LOCATION.location_id, _LOCATION.name)
    rows = rows.where(_LOCATION.organizer_id == organizer_id, _LOCATION.status == "active")
    rows = rows.order_by(_LOCATION.name, _LOCATION.location_id).limit(NAMES_MAX)
    return [(location_id, name) for location_id, name in db.execute(rows)]


def _location_conditions(organizer_id: int, query: LocationQuery) -> ColumnElement[bool]:
    wanted = [_LOCATION.organizer_id == organizer_id]
    if query.status is not None:
        wanted.append(_LOCATION.status == query.status)
    if query.locations:
        wanted.append(_LOCATION.location_id.in_(query.locations))
    return and_(*wanted)


def find_location(db: Connection, location_id: int) -> Location:
    """The location. Raises NotFound."""
    row = db.execute(select(*LOCATIONS_ROW.columns).where(_LOCATION.location_id == location_id)).first()
    if row is None:
        raise NotFound("Location", location_id)
    return location_item(row)
