"""Founding clubs."""

from sqlalchemy import Connection, insert, update

from silverball.store import tables


def found(db: Connection, user_id: int, *, name: str, description: str | None, location: str | None) -> int:
    """A new club, led by this user, who becomes its first member; returns its id."""
    values = {"user_id": user_id, "name": name, "description": description, "location": location}
    made = insert(tables.club).values(**values).returning(tables.club.c.club_id)
    club_id = int(db.execute(made).scalar_one())
    db.execute(update(tables.user).where(tables.user.c.user_id == user_id).values(club_id=club_id))
    return club_id
