"""Locations: the places where tournaments are played."""

from silverball_wire.base import Wire
from silverball_wire.values import Number, Status


class Location(Wire, frozen=True, kw_only=True):
    """A location of an organizer. Source: interface 4.1, samples/locations-list.json."""

    location_id: int
    scorbit_venue_id: int | None = None
    """Id of the venue at Scorbit, as imported; null otherwise."""
    scorbit_venue_uuid: str | None = None
    """UUID of the venue at Scorbit, as imported; null otherwise."""
    pinballmap_id: int | None = None
    name: str
    organizer_id: int
    status: Status
    address: str | None
    lat: Number | None = None
    lng: Number | None = None
