"""Clubs."""

from silverball_wire.base import Wire


class Club(Wire, frozen=True, kw_only=True):
    """A club of players. Source: samples/clubs.json, wire.yaml Club."""

    club_id: int
    user_id: int
    """Id of the account that leads the club."""
    name: str
    """Name of the club."""
    logo: str | None
    description: str | None
    location: str | None
