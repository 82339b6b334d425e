"""Series: the list, and one row in its published shape."""

from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, bindparam, func, select, true

from silverball.kit.conversions import convert
from silverball.kit.errors import NotFound
from silverball.kit.http.query import PageNumber, Query
from silverball.service.access import AuthenticatedCaller
from silverball.service.pages import PageRows, refuse_deep_pagination
from silverball.service.users import reads as users
from silverball.store import tables
from silverball.store.among import is_among
from silverball.store.statements import NamedRow, RowMapper
from silverball_wire.base import Id
from silverball_wire.parts import RsvpConfiguration
from silverball_wire.series import Series, SeriesListItem
from silverball_wire.values import SeriesStatus

PER_PAGE = 25
NAMES_MAX = 500
_S, _T = tables.series.c, tables.tournament.c
ROW = RowMapper(
    _S.series_id,
    _S.name,
    _S.status,
    _S.organizer_id,
    _S.test,
    _S.removed_results,
    _S.playoffs_cutoffs,
    _S.scoring,
    _S.estimated_tgp,
    _S.scoring_custom,
)
_DETAILED_ROW = RowMapper(_S.rsvp_configuration, series=ROW, organizer=users.ROW)
_SERIES = (
    select(*_DETAILED_ROW.columns)
    .select_from(tables.series)
    .join(tables.user, tables.user.c.user_id == _S.organizer_id)
    .where(_S.series_id == bindparam("series_id"))
)


class SeriesQuery(Query, frozen=True, kw_only=True):
    """Parameters of GET /api/series. Source: interface.md 1."""

    owner: Id | None = None
    played: Id | None = None
    status: SeriesStatus | None = None
    """Only series in this state."""
    page: PageNumber = 1


def series_item(row: NamedRow) -> Series:
    """The series in a row of ROW, as a part of something else."""
    return Series(**series_fields(row))


def series_fields(row: NamedRow) -> dict[str, Any]:
    """The fields of the series in a row of ROW."""
    return {
        "series_id": row.series_id,
        "name": row.name,
        "status": row.status,
        "organizer_id": row.organizer_id,
        "test": row.test,
        "removed_results": row.removed_results,
        "playoffs_cutoffs": row.playoffs_cutoffs,
        "scoring": row.scoring,
        "estimated_tgp": row.estimated_tgp,
        "scoring_custom": row.scoring_custom,
    }


def find_series(db: Connection, series_id: int, viewer: AuthenticatedCaller | None) -> Series:
    """The series with its organizer. Raises NotFound."""
    stored = db.execute(_SERIES, {"series_id": series_id}).first()
    if stored is None:
        raise NotFound("Series", series_id)
    row = _DETAILED_ROW.row(stored)
    return Series(
        **series_fields(row.series),
        organizer=users.user_item(row.organizer, viewer),
        rsvp_configuration=convert(row.rsvp_configuration, RsvpConfiguration | None),
    )


def series_page(
    db: Connection, query: SeriesQuery, viewer: AuthenticatedCaller | None
) -> PageRows[SeriesListItem]:
    """One page of the series, newest first. Raises NotAllowed when `played` is hidden."""
    refuse_deep_pagination(query.page, PER_PAGE)
    conditions = _conditions(db, query, viewer)
    total = db.execute(select(func.count()).select_from(tables.series).where(*conditions)).scalar_one()
    statement = select(*ROW.columns).where(*conditions).order_by(_S.series_id.desc())
    return PageRows(
        series_list_items(db, statement.limit(PER_PAGE).offset(PER_PAGE * (query.page - 1))), total
    )


def active_series(db: Connection, organizer_id: int, *, limit: int) -> list[SeriesListItem]:
    """The organizer's newest active series."""
    statement = select(*ROW.columns).where(_S.organizer_id == organizer_id, _S.status == "active")
    return series_list_items(db, statement.order_by(_S.series_id.desc()).limit(limit))


def series_list_items(db: Connection, statement: Select[Any]) -> list[SeriesListItem]:
    """The list items in the result of a statement of ROW, with the ids of their tournaments."""
    rows = db.execute(statement).all()
    tournament_ids: dict[int, list[int]] = {row.series_id: [] for row in rows}
    members = select(_T.series_id, _T.tournament_id).where(is_among(_T.series_id, tournament_ids))
    for series_id, tournament_id in db.execute(members.order_by(_T.tournament_id)):
        tournament_ids[series_id].append(tournament_id)
    return [
        SeriesListItem(**series_fields(row), tournament_ids=tuple(tournament_ids[row.series_id]))
        for row in rows
    ]


def _conditions(
    db: Connection, query: SeriesQuery, viewer: AuthenticatedCaller | None
) -> list[ColumnElement[bool]]:
    conditions: list[ColumnElement[bool]] = [true()]
    if query.owner is not None:
        conditions.append(_S.organizer_id == query.owner)
    if query.status is not None:
        conditions.append(_S.status == query.status)
    if query.played is not None:
        only_completed = users.shows_only_completed_to(db, query.played, viewer)
        conditions.append(_S.series_id.in_(_played_series_ids(query.played, only_completed=only_completed)))
    return conditions


def _played_series_ids(user_id: int, *, only_completed: bool) -> Select[Any]:
    """Ids of the series in which a player claimed by the user was an entrant of a tournament."""
    entrant, player = tables.entrant.c, tables.player.c
    played = (
        select(_T.series_id)
        .join(tables.entrant, entrant.tournament_id == _T.tournament_id)
        .join(tables.player, player.player_id == entrant.player_id)
        .where(player.claimed_by == user_id, _T.series_id.is_not(None))
    )
    return played.where(_T.status == "completed") if only_completed else played


def series_names(db: Connection, organizer_id: int) -> list[tuple[int, str]]:
    """Id and name of the organizer's active series, newest first, for a choice."""
    rows = select(_S.series_id, _S.name)
    rows = rows.where(_S.organizer_id == organizer_id, _S.status == "active")
    rows = rows.order_by(_S.series_id.desc()).limit(NAMES_MAX)
    return [(series_id, name) for series_id, name in db.execute(rows)]
