"""Occasions: the list, and one with its links and tournaments."""

from collections.abc import Sequence
from typing import Any

import msgspec
from sqlalchemy import Connection, Row, Select, bindparam, func, select

from silverball.kit.errors import NotFound
from silverball.kit.http.query import PageNumber, Query
from silverball.service.access import AuthenticatedCaller
from silverball.service.locations import reads as locations
from silverball.service.pages import PageRows, refuse_deep_pagination
from silverball.service.tournaments.reads import tournaments
from silverball.service.users import reads as users
from silverball.store import tables
from silverball.store.statements import NamedRow, RowMapper
from silverball_wire import times
from silverball_wire.occasions import Occasion, OccasionLink, OccasionTournament
from silverball_wire.parts import OccasionListItem
from silverball_wire.tournaments import Tournament

PER_PAGE = 25
ITEMS_MAX = 500
_O = tables.occasion.c
ROW = RowMapper(
    _O.occasion_id,
    _O.organizer_id,
    _O.location_id,
    _O.name,
    _O.status,
    _O.contact_email,
    _O.start_utc,
    _O.start_local,
    _O.end_utc,
    _O.end_local,
    _O.registration_utc,
    _O.registration_local,
    _O.timezone,
    _O.layout,
    _O.layout_order,
    _O.description,
    _O.description_collapse,
    _O.description_preview_html,
    _O.description_html,
    _O.banner,
    location=locations.ROW,
)
_DETAILED_ROW = RowMapper(
    tables.shortcut.c.shortcut_id, tables.shortcut.c.slug, occasion=ROW, organizer=users.ROW
)


class OccasionQuery(Query, frozen=True, kw_only=True):
    """Parameters of GET /api/events. Source: wire.yaml."""

    page: PageNumber = 1


def occasion_rows(mapper: RowMapper = ROW) -> Select[Any]:
    """A query of ROW, or of a mapper with more columns, for all occasions with their locations."""
    return (
        select(*mapper.columns)
        .select_from(tables.occasion)
        .outerjoin(tables.location, tables.location.c.location_id == _O.location_id)
    )


def occasion_item(row: NamedRow) -> OccasionListItem:
    """The occasion in a row of ROW, as lists and tournaments show it."""
    return OccasionListItem(**_occasion_fields(row), is_favorite=None)


def _occasion_fields(row: NamedRow) -> dict[str, Any]:
    return {
        "event_id": row.occasion_id,
        "organizer_id": row.organizer_id,
        "location_id": row.location_id,
        "name": row.name,
        "status": row.status,
        "contact_email": row.contact_email,
        "start_utc": times.iso(row.start_utc),
        "start_local": row.start_local,
        "end_utc": times.iso_or_none(row.end_utc),
        "end_local": row.end_local,
        "registration_utc": times.iso_or_none(row.registration_utc),
        "registration_local": row.registration_local,
        "timezone": row.timezone,
        "layout": row.layout,
        "layout_order": row.layout_order,
        "description": row.description,
        "description_collapse": row.description_collapse,
        "description_preview_html": row.description_preview_html,
        "description_html": row.description_html,
        "banner": row.banner,
        "location": locations.location_or_none(row.location),
    }


def occasions_page(db: Connection, query: OccasionQuery) -> PageRows[OccasionListItem]:
    """One page of the occasions, newest first."""
    refuse_deep_pagination(query.page, PER_PAGE)
    total = db.execute(select(func.count()).select_from(tables.occasion)).scalar_one()
    statement = (
        occasion_rows().order_by(_O.occasion_id.desc()).limit(PER_PAGE).offset(PER_PAGE * (query.page - 1))
    )
    return PageRows([occasion_item(row) for row in ROW.rows(db.execute(statement))], total)


_OCCASION = (
    occasion_rows(_DETAILED_ROW)
    .join(tables.user, tables.user.c.user_id == _O.organizer_id)
    .outerjoin(tables.shortcut, tables.shortcut.c.occasion_id == _O.occasion_id)
    .where(_O.occasion_id == bindparam("occasion_id"))
    .order_by(tables.shortcut.c.shortcut_id)
    .limit(1)
)


def find_occasion(db: Connection, occasion_id: int, viewer: AuthenticatedCaller | None) -> Occasion:
    """The occasion with its organizer, links and tournaments. Raises NotFound."""
    stored = db.execute(_OCCASION, {"occasion_id": occasion_id}).first()
    if stored is None:
        raise NotFound("Event", occasion_id)
    row = _DETAILED_ROW.row(stored)
    links, link_ids = _load_links(db, occasion_id)
    entries, entry_ids = _load_entries(db, occasion_id)
    return Occasion(
        **_occasion_fields(row.occasion),
        # The service has no favourites.
        is_favorite=False,
        organizer=users.user_item(row.organizer, viewer),
        links=links,
        link_ids=link_ids,
        event_tournaments=entries,
        event_tournament_ids=entry_ids,
        tournaments=_load_tournaments(db, occasion_id, viewer),
        shortcut_id=row.shortcut_id,
        shortcut_slug=row.slug,
    )


def _load_links(db: Connection, occasion_id: int) -> tuple[tuple[OccasionLink, ...], tuple[int, ...]]:
    """The links by id, and their ids in the organizer's order."""
    link = tables.occasion_link.c
    columns = (link.link_id, link.user_id, link.label, link.url, link.is_registration, link.embed)
    statement = (
        select(*columns, link.place)
        .where(link.occasion_id == occasion_id)
        .order_by(link.link_id)
        .limit(ITEMS_MAX)
    )
    rows = db.execute(statement).all()
    links = tuple(
        OccasionLink(
            link_id=id_, user_id=user_id, label=label, url=url, is_registration=is_registration, embed=embed
        )
        for id_, user_id, label, url, is_registration, embed, _ in rows
    )
    return links, _ids_by_place([(row.place, row.link_id) for row in rows])


def _load_entries(db: Connection, occasion_id: int) -> tuple[tuple[OccasionTournament, ...], tuple[int, ...]]:
    """The tournaments of the occasion by id, and their ids in the organizer's order."""
    entry = tables.occasion_tournament.c
    statement = select(tables.occasion_tournament).where(entry.occasion_id == occasion_id)
    rows = db.execute(statement.order_by(entry.event_tournament_id).limit(ITEMS_MAX)).all()
    return tuple(_occasion_tournament(row) for row in rows), _ids_by_place(
        [(row.place, row.event_tournament_id) for row in rows]
    )


def _occasion_tournament(row: Row[Any]) -> OccasionTournament:
    external = dict.fromkeys(_EXTERNAL_FIELDS.values()) | {
        _EXTERNAL_FIELDS[key]: value for key, value in row.external.items()
    }
    return OccasionTournament(
        event_tournament_id=row.event_tournament_id,
        event_id=row.occasion_id,
        user_id=row.user_id,
        tournament_id=row.tournament_id,
        labels=row.labels,
        label_color=row.label_color,
        player_limit=row.player_limit,
        tgp=row.tgp,
        **external,
    )


# The fields of a tournament on another site are stored under their wire names.
_EXTERNAL_FIELDS = {
    info.encode_name: info.name
    for info in msgspec.structs.fields(OccasionTournament)
    if info.name.startswith("external_")
}


def _ids_by_place(numbered: Sequence[tuple[int, int]]) -> tuple[int, ...]:
    return tuple(id_ for _, id_ in sorted(numbered))


def _load_tournaments(
    db: Connection, occasion_id: int, viewer: AuthenticatedCaller | None
) -> tuple[Tournament, ...]:
    entry = tables.occasion_tournament.c
    statement = (
        tournaments.tournament_rows()
        .join(tables.occasion_tournament, entry.tournament_id == tables.tournament.c.tournament_id)
        .where(entry.occasion_id == occasion_id)
        .order_by(entry.event_tournament_id)
        .limit(ITEMS_MAX)
    )
    return tuple(tournaments.tournament_items(db, statement, viewer))
