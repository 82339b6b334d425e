"""Clubs."""

from silverball.wire.base import Wire


class Club(Wire, frozen=True, kw_only=True):
    """A club of players. Source: samples/clubs.json, wire.yaml Club."""

    club_id: int
    user_id: int
    name: str
    logo: str | None
    description: str | None
    location: str | None
