"""Create, change and delete clubs."""

from msgspec import UNSET, UnsetType
from sqlalchemy import insert, select, update

from silverball.kit.http.body import Body
from silverball.kit.http.fields import Line, Name, Text, Url
from silverball.service import ownership
from silverball.service.calls import Write
from silverball.service.events import feed_events
from silverball.store import book, tables
from silverball.store.transaction import Transaction


class NewClub(Body, frozen=True, kw_only=True):
    """A new club of the caller."""

    name: Name
    logo: Url | None = None
    description: Text | None = None
    location: Line | None = None


class ChangedClub(Body, frozen=True, kw_only=True):
    """The changed fields of a club."""

    name: Name | UnsetType = UNSET
    logo: Url | UnsetType | None = UNSET
    description: Text | UnsetType | None = UNSET
    location: Line | UnsetType | None = UNSET


def create_club(
    transaction: Transaction,
    user_id: int,
    *,
    name: str,
    description: str | None,
    location: str | None,
    logo: str | None = None,
) -> int:
    """Create a club with this user as its leader and first member, and return its id."""
    db = transaction.connection
    values = {
        "user_id": user_id,
        "name": name,
        "description": description,
        "location": location,
        "logo": logo,
    }
    inserted = insert(tables.club).values(**values).returning(tables.club.c.club_id)
    club_id = int(db.execute(inserted).scalar_one())
    db.execute(update(tables.user).where(tables.user.c.user_id == user_id).values(club_id=club_id))
    feed_events.announce_users(transaction, [user_id])
    return club_id


def join_club(transaction: Transaction, user_id: int, club_id: int) -> None:
    """Make the user a member of the club, and of no other."""
    joined = update(tables.user).where(tables.user.c.user_id == user_id).values(club_id=club_id)
    transaction.connection.execute(joined)
    feed_events.announce_users(transaction, [user_id])


def change_club(call: Write[ChangedClub]) -> int:
    """Change the club in the path, and return its id."""
    club_id = ownership.owned_id_in_path(call, book.CLUB)
    book.change(call.db, book.CLUB, club_id, ownership.sent_values(call.body))
    return club_id


def delete_club(call: Write[Body]) -> None:
    """Delete the club in the path; its members have no club afterwards."""
    club_id = ownership.owned_id_in_path(call, book.CLUB, is_exclusive=True)
    users = tables.user.c
    members = call.db.execute(select(users.user_id).where(users.club_id == club_id)).scalars().all()
    call.db.execute(update(tables.user).where(users.club_id == club_id).values(club_id=None))
    book.remove(call.db, book.CLUB, club_id)
    feed_events.announce_users(call.transaction, members)
