"""Clubs."""

from silverball_client.shapes.base import Shape


class Club(Shape, frozen=True, kw_only=True):
    """A club of players."""

    club_id: int
    user_id: int
    name: str
    logo: str | None
    description: str | None
    location: str | None
