"""Locations of an organizer."""

from typing import Annotated

from msgspec import Meta
from sqlalchemy import ColumnElement, Connection, and_, func, select

from silverball.kit.errors import NotFound
from silverball.kit.http.query import PageNumber, Query
from silverball.service.pages import PageRows, refuse_deep_pagination
from silverball.store import tables
from silverball.store.statements import NamedRow, RowMapper
from silverball_wire.base import Id
from silverball_wire.locations import Location
from silverball_wire.values import Status

PER_PAGE = 500
_LOCATION = tables.location.c
NAMES_MAX = 500
ROW = RowMapper(
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


def location_item(row: NamedRow) -> Location:
    """The location in a row of ROW."""
    return Location(
        location_id=row.location_id,
        scorbit_venue_id=row.scorbit_venue_id,
        scorbit_venue_uuid=row.scorbit_venue_uuid,
        pinballmap_id=row.pinballmap_id,
        name=row.name,
        organizer_id=row.organizer_id,
        status=row.status,
        address=row.address,
        lat=row.lat,
        lng=row.lng,
    )


def location_or_none(row: NamedRow) -> Location | None:
    """The location in ROW of an outer join; None when it has none."""
    return None if row.location_id is None else location_item(row)


def owned_by(db: Connection, organizer_id: int, query: LocationQuery) -> PageRows[Location]:
    """One page of the organizer's locations, oldest first."""
    refuse_deep_pagination(query.page, PER_PAGE)
    wanted = _conditions(organizer_id, query)
    total = db.execute(select(func.count()).select_from(tables.location).where(wanted)).scalar_one()
    rows = select(*ROW.columns).where(wanted).order_by(_LOCATION.location_id)
    rows = rows.limit(PER_PAGE).offset(PER_PAGE * (query.page - 1))
    return PageRows([location_item(row) for row in db.execute(rows)], total)


def location_names(db: Connection, organizer_id: int) -> list[tuple[int, str]]:
    """Id and name of the organizer's active locations, by name."""
    rows = select(_LOCATION.location_id, _LOCATION.name)
    rows = rows.where(_LOCATION.organizer_id == organizer_id, _LOCATION.status == "active")
    rows = rows.order_by(_LOCATION.name, _LOCATION.location_id).limit(NAMES_MAX)
    return [(location_id, name) for location_id, name in db.execute(rows)]


def _conditions(organizer_id: int, query: LocationQuery) -> ColumnElement[bool]:
    wanted = [_LOCATION.organizer_id == organizer_id]
    if query.status is not None:
        wanted.append(_LOCATION.status == query.status)
    if query.locations:
        wanted.append(_LOCATION.location_id.in_(query.locations))
    return and_(*wanted)


def find_location(db: Connection, location_id: int) -> Location:
    """The location. Raises NotFound."""
    row = db.execute(select(*ROW.columns).where(_LOCATION.location_id == location_id)).first()
    if row is None:
        raise NotFound("Location", location_id)
    return location_item(row)
