"""Locations, series, occasions and other tournaments that a tournament may refer to."""

from typing import Any

from sqlalchemy import Column, Connection, select

from silverball.kit.errors import Invalid
from silverball.store import tables

# Field of a body -> the column of its id, and the noun for it.
OWNED_FIELDS: dict[str, tuple[Column[int], str]] = {
    "location_id": (tables.location.c.location_id, "location"),
    "series_id": (tables.series.c.series_id, "series"),
    "event_id": (tables.occasion.c.occasion_id, "event"),
}
WIRE_FIELDS = {"location_id": "locationId", "series_id": "seriesId", "event_id": "eventId"}


def require_owned(db: Connection, field: str, owned_id: int, organizer_id: int) -> None:
    """Raise Invalid unless the organizer has this location, series or occasion."""
    key, noun = OWNED_FIELDS[field]
    owner = select(key.table.c.organizer_id).where(key == owned_id)
    if db.execute(owner).scalar_one_or_none() != organizer_id:
        raise Invalid(
            {WIRE_FIELDS[field]: [f"There is no {noun} {owned_id} of this tournament's organizer."]}
        )


def require_free_slug(db: Connection, slug: str, tournament_id: int | None) -> None:
    """Raise Invalid when the shortcut leads elsewhere already."""
    column = tables.shortcut.c
    row = db.execute(select(column.shortcut_id, column.tournament_id).where(column.slug == slug)).first()
    if row is not None and (tournament_id is None or row.tournament_id != tournament_id):
        raise Invalid({"shortcut": [f"The shortcut {slug} is taken. Choose another one."]})


def link_details(
    db: Connection, links: list[dict[str, Any]], tournament_id: int | None
) -> list[dict[str, Any]]:
    """Links as the details store them, each with a copy of the linked tournament. Raises Invalid."""
    ids = [link["linked_tournament_id"] for link in links]
    if len(set(ids)) != len(ids) or tournament_id in ids:
        raise Invalid({"links": ["A tournament is linked once, and never to itself."]})
    column = tables.tournament.c
    statement = select(
        column.tournament_id, column.name, column.type, column.organizer_id, column.status, column.test
    )
    linked = {row.tournament_id: row for row in db.execute(statement.where(column.tournament_id.in_(ids)))}
    missing = [str(linked_id) for linked_id in ids if linked_id not in linked]
    if missing:
        raise Invalid({"links": [f"There is no tournament {', '.join(missing)}."]})
    return [{**link, "shown": _link_snapshot(link, linked[link["linked_tournament_id"]])} for link in links]


def _link_snapshot(link: dict[str, Any], row: Any) -> dict[str, Any]:
    return {
        "tournamentId": row.tournament_id,
        "name": row.name,
        "type": row.type,
        "organizerId": row.organizer_id,
        "status": row.status,
        "linkType": link["link_type"],
        "linkIndex": link["link_index"],
        "test": row.test,
    }


def linking_tournaments(db: Connection, tournament_id: int) -> list[int]:
    """Ids of the tournaments that link to this one, ascending."""
    link = tables.tournament_link.c
    statement = select(link.tournament_id).where(link.linked_tournament_id == tournament_id)
    return list(db.execute(statement.distinct().order_by(link.tournament_id)).scalars())
