"""Clubs."""

from sqlalchemy import Connection, select

from silverball.kit.errors import NotFound
from silverball.store import tables
from silverball.wire.clubs import Club


def club_or_none(db: Connection, club_id: int) -> Club | None:
    """The club; None when it does not exist."""
    row = db.execute(select(tables.club).where(tables.club.c.club_id == club_id)).mappings().first()
    return None if row is None else Club(**row)


def find_club(db: Connection, club_id: int) -> Club:
    """The club. Raises NotFound."""
    club = club_or_none(db, club_id)
    if club is None:
        raise NotFound("Club", club_id)
    return club
