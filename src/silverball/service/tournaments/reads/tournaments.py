"""Tournaments: a row in its published shape, and the check that one exists."""

from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, bindparam, literal, select, type_coerce

from silverball.kit.errors import NotFound
from silverball.kit.values import compile_builder
from silverball.rules.model import fields
from silverball.rules.model.fields import PartField
from silverball.service.access import AuthenticatedCaller
from silverball.service.locations import reads as locations
from silverball.service.users import reads as users
from silverball.store import tables
from silverball.store.statements import NamedRow, RowMapper
from silverball.store.types import IsoText
from silverball_wire import times
from silverball_wire.generated.format_settings import FormatSettings
from silverball_wire.tournaments import Tournament

_T = tables.tournament.c
# Written as older clients read them, without a zone.
_PLAIN_TIMES = ("created_at", "updated_at")
_SHOWN = fields.shown_columns(fields.TOURNAMENT)


def _shown_column(field: PartField) -> ColumnElement[Any]:
    column = _T[field.stored_in]
    is_iso = field.kind == "moment" and field.name not in _PLAIN_TIMES
    return type_coerce(column, IsoText) if is_iso else column


ROW = RowMapper(
    *map(_shown_column, _SHOWN),
    _T.settings,
    organizer=users.ROW,
    location=locations.ROW,
)
_build_item = compile_builder(
    Tournament,
    fields.published_sources(
        [field for field in _SHOWN if field.name != "points_map"], dict.fromkeys(_PLAIN_TIMES, times.plain)
    ),
    takes_more=True,
)


def tournament_rows(mapper: RowMapper = ROW) -> Select[Any]:
    """A query for tournaments with organizer and location, without filter, order or limit."""
    return (
        select(*mapper.columns)
        .select_from(tables.tournament)
        .join(tables.user, tables.user.c.user_id == _T.organizer_id)
        .outerjoin(tables.location, tables.location.c.location_id == _T.location_id)
    )


# Settings are stored under their wire names.
_FIELD_BY_KEY = dict(
    zip(FormatSettings.__struct_encode_fields__, FormatSettings.__struct_fields__, strict=True)
)
_EXISTS = (
    select(literal(1)).select_from(tables.tournament).where(_T.tournament_id == bindparam("tournament_id"))
)


def require_tournament(db: Connection, tournament_id: int) -> None:
    """Raise NotFound when there is no such tournament."""
    if db.execute(_EXISTS, {"tournament_id": tournament_id}).first() is None:
        raise NotFound("Tournament", tournament_id)


def tournament_item(row: NamedRow, viewer: AuthenticatedCaller | None, **parts: Any) -> Tournament:
    """The tournament in a row of ROW, with its organizer and these parts."""
    settings = row.settings
    parts["scorekeeping"] = None
    for key, value in settings.items():
        if key in _FIELD_BY_KEY:
            parts[_FIELD_BY_KEY[key]] = value
    if settings.get("scoring") == "custom":
        # The organizer's own points are in pointsMapCustom; existing clients expect "manual" here.
        parts["points_map"] = "manual"
    else:
        parts["points_map"] = row.points_map
    item: Tournament = _build_item(row, organizer=users.user_item(row.organizer, viewer), **parts)
    return item


def tournament_items(
    db: Connection, statement: Select[Any], viewer: AuthenticatedCaller | None
) -> list[Tournament]:
    """The list items in the result of a statement made of `tournament_rows`."""
    items = []
    for row in ROW.rows(db.execute(statement)):
        location = locations.location_or_none(row.location)
        parts = {} if location is None else {"location": location}
        items.append(tournament_item(row, viewer, **parts))
    return items
