"""Tournaments: the list, one row in its published shape, and the check that one exists."""

from typing import Annotated, Any

from msgspec import Meta
from sqlalchemy import ColumnElement, Connection, Select, bindparam, func, literal, select, true, type_coerce

from silverball.kit.errors import NotFound
from silverball.kit.http.fields import one_of
from silverball.kit.http.query import PageNumber, Query
from silverball.rules.registry import FORMATS
from silverball.service.access import AuthenticatedCaller
from silverball.service.locations import reads as locations
from silverball.service.pages import PageRows, refuse_deep_pagination
from silverball.service.users import reads as users
from silverball.store import tables
from silverball.store.named_rows import IsoText, NamedRow, RowMapper
from silverball.wire import times
from silverball.wire.base import Id
from silverball.wire.format_settings import FormatSettings
from silverball.wire.tournaments import Tournament
from silverball.wire.values import TournamentStatus

PER_PAGE = 25
ANY_TYPE = "tournaments"

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


class TournamentQuery(Query, frozen=True, kw_only=True):
    """Parameters of GET /api/tournaments. Source: interface 4.6; interface.md 2, row 6."""

    page: PageNumber = 1
    limit: Annotated[int, Meta(ge=1, le=100)] | None = None
    owner: Id | None = None
    played: Id | None = None
    status: TournamentStatus | None = None
    series: Id | None = None
    # An existing client sends "tournaments" to mean no filter.
    type: Annotated[str, one_of(lambda: (*FORMATS, "tournaments"))] | None = None

    @property
    def per_page(self) -> int:
        return self.limit or PER_PAGE

    @property
    def per_page_shown(self) -> int | str:
        """The page size in the answer: text when the caller sent a limit (interface.md 2, row 10)."""
        return PER_PAGE if self.limit is None else str(self.limit)


def tournament_item(row: NamedRow, viewer: AuthenticatedCaller | None, **parts: Any) -> Tournament:
    """The tournament in a row of ROW, with its organizer and these parts."""
    settings = row.settings
    parts["scorekeeping"] = None
    for key, value in settings.items():
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


def tournaments_page(
    db: Connection, query: TournamentQuery, viewer: AuthenticatedCaller | None
) -> PageRows[Tournament]:
    """One page of the tournaments, newest first. Raises NotAllowed when `played` is hidden."""
    refuse_deep_pagination(query.page, query.per_page)
    conditions = _conditions(db, query, viewer)
    total = db.execute(select(func.count()).select_from(tables.tournament).where(*conditions)).scalar_one()
    statement = tournament_rows().where(*conditions).order_by(_T.tournament_id.desc())
    statement = statement.limit(query.per_page).offset(query.per_page * (query.page - 1))
    return PageRows(tournament_items(db, statement, viewer), total)


def _conditions(
    db: Connection, query: TournamentQuery, viewer: AuthenticatedCaller | None
) -> list[ColumnElement[bool]]:
    conditions: list[ColumnElement[bool]] = [true()]
    if query.owner is not None:
        conditions.append(_T.organizer_id == query.owner)
    if query.status is not None:
        conditions.append(_T.status == query.status)
    if query.series is not None:
        conditions.append(_T.series_id == query.series)
    if query.type is not None and query.type != ANY_TYPE:
        conditions.append(_T.type == query.type)
    if query.played is not None:
        conditions.append(played_by(query.played))
        if users.shows_only_completed_to(db, query.played, viewer):
            conditions.append(_T.status == "completed")
    return conditions


def played_by(user_id: int) -> ColumnElement[bool]:
    """Whether a player claimed by the user is an entrant of the tournament in the outer statement."""
    entrant, player = tables.entrant.c, tables.player.c
    claimed = select(entrant.tournament_id).join(tables.player, player.player_id == entrant.player_id)
    return _T.tournament_id.in_(claimed.where(player.claimed_by == user_id))
