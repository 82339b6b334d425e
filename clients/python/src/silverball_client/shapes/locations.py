"""Locations: the places where tournaments are played."""

from silverball_client.shapes.base import Shape


class Location(Shape, frozen=True, kw_only=True):
    """A location of an organizer."""

    location_id: int
    scorbit_venue_id: int | None = None
    scorbit_venue_uuid: str | None = None
    pinballmap_id: int | None = None
    name: str
    organizer_id: int
    status: str
    address: str | None
    lat: int | float | None = None
    lng: int | float | None = None
