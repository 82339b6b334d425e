"""Clubs."""

from sqlalchemy import Connection, select

from silverball.kit.errors import NotFound
from silverball.store import tables
from silverball_wire.clubs import Club


def club_or_none(db: Connection, club_id: int) -> Club | None:
    """The club; None when it does not exist."""
    row = db.execute(select(tables.club).where(tables.club.c.club_id == club_id)).mappings().first()
    return None if row is None else Club(**row)


def club_of_user(db: Connection, user_id: int) -> int | None:
    """The id of the club that the user is a member of; None without one."""
    row = select(tables.user.c.club_id).where(tables.user.c.user_id == user_id)
    return db.execute(row).scalar_one_or_none()


def find_club(db: Connection, club_id: int) -> Club:
    """The club. Raises NotFound."""
    club = club_or_none(db, club_id)
    if club is None:
        raise NotFound("Club", club_id)
    return club
