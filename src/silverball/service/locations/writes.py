"""Change the locations of an organizer's book."""

from typing import Annotated, Any

from msgspec import UNSET, Meta, UnsetType
from sqlalchemy import select

from silverball.kit.errors import Conflict, Invalid
from silverball.kit.http.body import Body
from silverball.kit.http.fields import Id, Line, Name
from silverball.service import ownership
from silverball.service.calls import Write
from silverball.service.events import feed_events
from silverball.store import book
from silverball.store.tables import location, occasion
from silverball_wire.values import Status

Latitude = Annotated[float, Meta(ge=-90, le=90)]
Longitude = Annotated[float, Meta(ge=-180, le=180)]


class LocationHasEvent(Conflict):
    sentence = "Event {event_id} takes place at location {location_id}. Change the event first."


class NewLocation(Body, frozen=True, kw_only=True):
    """A new location of the caller's book."""

    name: Name
    address: Line | None = None
    lat: Latitude | None = None
    lng: Longitude | None = None
    status: Status = "active"
    pinballmap_id: Id | None = None


class ChangedLocation(Body, frozen=True, kw_only=True):
    """The changed fields of a location."""

    name: Name | UnsetType = UNSET
    address: Line | UnsetType | None = UNSET
    lat: Latitude | UnsetType | None = UNSET
    lng: Longitude | UnsetType | None = UNSET
    status: Status | UnsetType = UNSET
    pinballmap_id: Id | UnsetType | None = UNSET


def add_location(call: Write[NewLocation]) -> int:
    """Add a location to the caller's book, and return its id."""
    values = ownership.sent_values(call.body)
    _require_both_coordinates(values)
    return book.add(call.db, book.LOCATION, call.user_id, values)


def change_location(call: Write[ChangedLocation]) -> int:
    """Change the location in the path, and return its id."""
    location_id = ownership.owned_id_in_path(call, book.LOCATION)
    values = ownership.sent_values(call.body)
    stored = select(location.c.lat, location.c.lng).where(location.c.location_id == location_id)
    _require_both_coordinates({**call.db.execute(stored).mappings().one(), **values})
    book.change(call.db, book.LOCATION, location_id, values)
    feed_events.announce_locations(call.transaction, [location_id])
    return location_id


def require_removable(call: Write[Body]) -> int:
    """The id in the path. Raises Conflict when a tournament or an event takes place at the location."""
    location_id = ownership.owned_id_in_path(call, book.LOCATION, is_exclusive=True)
    ownership.refuse_used(call, book.LOCATION, location_id, "Set the location inactive instead.")
    rows = select(occasion.c.occasion_id).where(occasion.c.location_id == location_id)
    event_id = call.db.execute(rows.order_by(occasion.c.occasion_id).limit(1)).scalar_one_or_none()
    if event_id is not None:
        raise LocationHasEvent(event_id=event_id, location_id=location_id)
    return location_id


def _require_both_coordinates(values: dict[str, Any]) -> None:
    missing = [name for name in ("lat", "lng") if values.get(name) is None]
    if len(missing) == 1:
        raise Invalid({missing[0]: ["Give both lat and lng, or neither."]})
