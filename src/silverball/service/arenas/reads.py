"""Arenas: an organizer's machines, and the lineup of a tournament."""

from collections.abc import Iterable, Sequence
from typing import Annotated, Any

from msgspec import Meta, UnsetType
from sqlalchemy import ColumnElement, Connection, and_, bindparam, func, literal, select

from silverball.kit.errors import NotFound
from silverball.kit.http.query import PageNumber, Query
from silverball.service.pages import PageRows, refuse_deep_pagination
from silverball.store import names, tables
from silverball.store.among import is_among
from silverball.store.statements import NamedRow, RowMapper, Statement
from silverball_wire.arenas import Arena, LineupArenaPart
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


def arena_item(row: NamedRow) -> Arena:
    """The arena in a row of ROW."""
    return _arena(row, UNSET)


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
    return _arena(row, part)


def _arena(row: NamedRow, part: LineupArenaPart | UnsetType) -> Arena:
    return Arena(
        arena_id=row.arena_id,
        name=row.name,
        status=row.status,
        opdb_id=row.opdb_id,
        category_id=row.category_id,
        organizer_id=row.organizer_id,
        labels=row.labels,
        label_color=row.label_color,
        tournament_arena=part,
    )


def owned_by(db: Connection, organizer_id: int, query: ArenaQuery) -> PageRows[Arena]:
    """One page of the organizer's arenas, oldest first."""
    refuse_deep_pagination(query.page, PER_PAGE)
    condition = _conditions(organizer_id, query)
    total = db.execute(select(func.count()).select_from(tables.arena).where(condition)).scalar_one()
    rows = select(*ROW.columns).where(condition).order_by(_ARENA.arena_id)
    rows = rows.limit(PER_PAGE).offset(PER_PAGE * (query.page - 1))
    return PageRows([arena_item(row) for row in db.execute(rows).all()], total)


def _conditions(organizer_id: int, query: ArenaQuery) -> ColumnElement[bool]:
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
