"""Delete what an erased account leaves behind, and have the results of its players rated again."""

from collections.abc import Collection

from sqlalchemy import Connection, delete, select

from silverball.store import book, rating_days, references, tables

_USER = tables.user.c
# The kinds of an organizer's book, ordered so that no kind is used by a later one.
BOOK_KINDS = (book.OCCASION, book.BANK, book.SERIES, book.PLAYER, book.ARENA, book.LOCATION)


def erase_remains(db: Connection, user_id: int, player_ids: Collection[int]) -> None:
    """Delete the rows that only the account used; `player_ids` were claimed by it."""
    for table in (tables.idempotency, tables.claim, tables.history_pull):
        db.execute(delete(table).where(table.c.user_id == user_id))
    for kind in BOOK_KINDS:
        # A player without a book: the statement looks for every kind of reference.
        if db.execute(select(kind.key).where(kind.owner == user_id).limit(1)).first() is None:
            continue
        db.execute(delete(kind.table).where(kind.owner == user_id, references.is_unreferenced(kind.key)))
    members = select(_USER.club_id).where(_USER.club_id.is_not(None))
    mine = tables.club.c.user_id == user_id
    db.execute(delete(tables.club).where(mine, tables.club.c.club_id.not_in(members)))
    # The next run finds the players by their pseudonyms.
    rating_days.mark_players(db, player_ids)
