"""Tournaments: a row in its published shape, and the check that one exists."""

from typing import Any

from msgspec import UNSET
from sqlalchemy import Connection, Select, bindparam, literal, select, type_coerce

from silverball.kit.errors import NotFound
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
ROW = RowMapper(
    _T.tournament_id,
    _T.name,
    _T.status,
    _T.type,
    type_coerce(_T.start_utc, IsoText),
    _T.start_local,
    type_coerce(_T.end_utc, IsoText),
    _T.end_local,
    type_coerce(_T.completed_at, IsoText),
    _T.organizer_id,
    _T.location_id,
    _T.series_id,
    _T.description,
    _T.points_map,
    _T.tiebreaker_points_map,
    _T.points_map_custom,
    _T.test,
    _T.womens,
    _T.timezone,
    _T.link,
    _T.linked_tournament_id,
    _T.estimated_tgp,
    _T.prize_pool,
    _T.created_at,
    _T.updated_at,
    _T.motd_text,
    _T.motd_color,
    _T.motd_expiration,
    _T.managers,
    _T.primary_config_settings,
    _T.settings,
    organizer=users.ROW,
    location=locations.ROW,
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
    return Tournament(
        tournament_id=row.tournament_id,
        name=row.name,
        status=row.status,
        type=row.type,
        start_utc=row.start_utc,
        start_local=row.start_local,
        end_utc=row.end_utc,
        end_local=row.end_local,
        completed_at=row.completed_at,
        organizer_id=row.organizer_id,
        location_id=row.location_id,
        series_id=row.series_id,
        description=row.description,
        # The organizer's own points are in pointsMapCustom; existing clients expect "manual" here.
        points_map="manual" if settings.get("scoring") == "custom" else row.points_map,
        tiebreaker_points_map=row.tiebreaker_points_map,
        points_map_custom=row.points_map_custom,
        test=row.test,
        womens=True if row.womens else UNSET,
        timezone=row.timezone,
        link=row.link,
        linked_tournament_id=row.linked_tournament_id,
        estimated_tgp=row.estimated_tgp,
        prize_pool=row.prize_pool,
        created_at=times.plain(row.created_at),
        updated_at=times.plain(row.updated_at),
        motd_text=row.motd_text,
        motd_color=row.motd_color,
        motd_expiration=row.motd_expiration,
        managers=row.managers,
        primary_config_settings=row.primary_config_settings,
        organizer=users.user_item(row.organizer, viewer),
        **parts,
    )


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
