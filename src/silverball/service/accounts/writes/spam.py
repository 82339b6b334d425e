"""Find and delete what an account made, for whoever cleans up after a spammer."""

from datetime import datetime

from sqlalchemy import Connection, delete, func, select, update

from silverball.service.events import feed_events
from silverball.store import audit, book, references, tables
from silverball.store.transaction import Transaction

# Ordered so that no kind is used by a later one.
BOOK_KINDS = (book.OCCASION, book.BANK, book.SERIES, book.PLAYER, book.ARENA, book.LOCATION)


def made_tournaments(db: Connection, user_id: int) -> list[int]:
    """Ids of the account's tournaments, newest first: playoffs come before what they belong to."""
    own = tables.tournament.c
    rows = select(own.tournament_id).where(own.organizer_id == user_id)
    return list(db.execute(rows.order_by(own.tournament_id.desc())).scalars())


def sent_submissions(db: Connection, user_id: int) -> list[int]:
    """Ids of the account's rating submissions, oldest first."""
    own = tables.rating_submission.c
    rows = select(own.rating_submission_id).where(own.submitter_id == user_id)
    return list(db.execute(rows.order_by(own.rating_submission_id)).scalars())


def count_book(db: Connection, user_id: int) -> int:
    """The number of rows in the account's book."""
    return sum(
        db.execute(select(func.count()).where(kind.owner == user_id)).scalar_one() for kind in BOOK_KINDS
    )


def remove_links(db: Connection, tournament_id: int, user_id: int) -> None:
    """Remove the links to a tournament from others of the same account."""
    own = select(tables.tournament.c.tournament_id).where(tables.tournament.c.organizer_id == user_id)
    link = tables.tournament_link.c
    is_to_it = (link.linked_tournament_id == tournament_id, link.tournament_id.in_(own))
    db.execute(delete(tables.tournament_link).where(*is_to_it))


def delete_book(transaction: Transaction, user_id: int) -> int:
    """Delete the account's book, clubs and pending claims, and return the number of rows of the book.

    A row that somebody else's tournament uses stays.
    """
    db, deleted = transaction.connection, 0
    for kind in BOOK_KINDS:
        is_free = (kind.owner == user_id, references.is_unreferenced(kind.key))
        deleted += db.execute(delete(kind.table).where(*is_free)).rowcount
    db.execute(delete(tables.claim).where(tables.claim.c.user_id == user_id))
    clubs, users = tables.club.c, tables.user.c
    own = select(clubs.club_id).where(clubs.user_id == user_id)
    members = db.execute(select(users.user_id).where(users.club_id.in_(own))).scalars().all()
    db.execute(update(tables.user).where(users.club_id.in_(own)).values(club_id=None))
    db.execute(delete(tables.club).where(clubs.user_id == user_id))
    feed_events.announce_users(transaction, members)
    return deleted


def record_cleaning(db: Connection, user_id: int, *, now: datetime, tournaments: int, rows: int) -> None:
    """Record that what the account made was deleted."""
    detail = f"{tournaments} tournaments, {rows} rows"
    audit.record(db, "account-cleaned", at=now, user_id=user_id, source=audit.COMMAND_LINE, detail=detail)
