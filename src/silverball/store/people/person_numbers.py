"""Federation numbers within one organizer's book: whose each of them is.

It belongs to the player who has it, else to the one whose linked account has it confirmed. A number that an
account only claims counts for nothing.
"""

from collections.abc import Collection

from sqlalchemy import ColumnElement, Connection, func, select

from silverball.store import tables
from silverball.store.database.named_locks import take_lock

_PLAYER, _CONFIRMED = tables.player.c, tables.confirmed_number.c
_NUMBER = func.coalesce(_PLAYER.ifpa_id, _CONFIRMED.ifpa_id)
_WITH_CONFIRMED = tables.player.outerjoin(tables.confirmed_number, _CONFIRMED.user_id == _PLAYER.claimed_by)


def lock_numbers(db: Connection, organizer_id: int) -> None:
    """Let nobody else give out numbers of this book until the commit: two requests make one person."""
    take_lock(db, f"federation numbers of account {organizer_id}")


def holders(db: Connection, organizer_id: int, numbers: Collection[int]) -> dict[int, dict[int, str]]:
    """Number -> names by id of the players of the book whose it is; unknown numbers are left out."""
    own = select(_PLAYER.ifpa_id.label("number"), _PLAYER.player_id, _PLAYER.name).where(
        _PLAYER.organizer_id == organizer_id, _PLAYER.ifpa_id.in_(numbers)
    )
    confirmed = (
        select(_CONFIRMED.ifpa_id.label("number"), _PLAYER.player_id, _PLAYER.name)
        .join_from(tables.confirmed_number, tables.player, _CONFIRMED.user_id == _PLAYER.claimed_by)
        .where(_PLAYER.organizer_id == organizer_id, _CONFIRMED.ifpa_id.in_(numbers))
    )
    found: dict[int, dict[int, str]] = {}
    for row in db.execute(own.order_by(_PLAYER.player_id)):
        found.setdefault(row.number, {})[row.player_id] = row.name
    in_book = set(found)
    for row in db.execute(confirmed.order_by(_PLAYER.player_id)):
        if row.number not in in_book:
            found.setdefault(row.number, {})[row.player_id] = row.name
    return found


def numbers_of(db: Connection, player_ids: Collection[int]) -> dict[int, int]:
    """Player id -> number, for those of these players who have one."""
    return _numbers_where(db, _PLAYER.player_id.in_(player_ids))


def numbers_in_book(db: Connection, organizer_id: int) -> dict[int, int]:
    """Player id -> number, for all players of the book who have one."""
    return _numbers_where(db, _PLAYER.organizer_id == organizer_id)


def _numbers_where(db: Connection, is_wanted: ColumnElement[bool]) -> dict[int, int]:
    rows = select(_PLAYER.player_id, _NUMBER.label("number")).select_from(_WITH_CONFIRMED)
    rows = rows.where(is_wanted, _NUMBER.is_not(None))
    return {row.player_id: row.number for row in db.execute(rows.order_by(_PLAYER.player_id))}
