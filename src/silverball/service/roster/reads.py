"""Players, arenas and banks of an organizer's book that can join a tournament."""

from collections.abc import Collection, Sequence

from msgspec import Struct
from sqlalchemy import Connection, select

from silverball.kit.errors import NotAllowed
from silverball.service.core import loaded
from silverball.service.core.access import AuthenticatedCaller
from silverball.service.users import reads as users
from silverball.store import tables
from silverball.store.people import names
from silverball_wire.tournaments import PairsApart

ARENAS_MAX = 20_000

_PLAYER, _ARENA, _BANK, _MEMBER = tables.player.c, tables.arena.c, tables.bank.c, tables.bank_arena.c


def book_players(db: Connection, organizer_id: int, player_ids: Collection[int]) -> dict[int, int | None]:
    """Player id -> the user who claimed the player, for players of the book."""
    columns = select(_PLAYER.player_id, _PLAYER.claimed_by)
    statement = columns.where(_PLAYER.organizer_id == organizer_id, _PLAYER.player_id.in_(player_ids))
    return {row.player_id: row.claimed_by for row in db.execute(statement)}


def book_arenas(db: Connection, organizer_id: int, arena_ids: Collection[int]) -> dict[int, int | None]:
    """Arena id -> category, for arenas of the book."""
    columns = select(_ARENA.arena_id, _ARENA.category_id)
    statement = columns.where(_ARENA.organizer_id == organizer_id, _ARENA.arena_id.in_(arena_ids))
    return {row.arena_id: row.category_id for row in db.execute(statement)}


class BookArena(Struct, frozen=True):
    """An arena of a book, by what it may be known as."""

    arena_id: int
    name_key: str
    opdb_id: str | None


def active_arenas(db: Connection, organizer_id: int) -> list[BookArena]:
    """The arenas in use of the organizer's book, oldest first."""
    columns = select(_ARENA.arena_id, _ARENA.name, _ARENA.opdb_id)
    statement = columns.where(_ARENA.organizer_id == organizer_id, _ARENA.status == "active")
    rows = db.execute(statement.order_by(_ARENA.arena_id).limit(ARENAS_MAX))
    return [BookArena(row.arena_id, names.name_key(row.name), row.opdb_id) for row in rows]


def arenas_called(in_book: Sequence[BookArena], name: str, opdb_id: str | None) -> list[int]:
    """Ids of the arenas of this title or name; where both have a title, the title decides."""
    key = names.name_key(name)
    return [
        arena.arena_id
        for arena in in_book
        if (arena.opdb_id == opdb_id if arena.opdb_id and opdb_id else arena.name_key == key)
    ]


def book_bank_arenas(
    db: Connection, organizer_id: int, bank_id: int
) -> tuple[tuple[int, int | None], ...] | None:
    """Id and category of each arena of the bank, in order; None when the bank is not in the book."""
    statement = (
        select(_MEMBER.arena_id, _ARENA.category_id)
        .select_from(tables.bank)
        .outerjoin(tables.bank_arena, _MEMBER.bank_id == _BANK.bank_id)
        .outerjoin(tables.arena, _ARENA.arena_id == _MEMBER.arena_id)
        .where(_BANK.bank_id == bank_id, _BANK.organizer_id == organizer_id)
        .order_by(_MEMBER.place)
    )
    rows = db.execute(statement).all()
    if not rows:
        return None
    return tuple((row.arena_id, row.category_id) for row in rows if row.arena_id is not None)


def are_in_a_book(db: Connection, player_ids: Collection[int]) -> bool:
    """Whether any organizer's book has one of these players."""
    statement = select(_PLAYER.player_id).where(_PLAYER.player_id.in_(player_ids)).limit(1)
    return db.execute(statement).first() is not None


def pairs_apart(db: Connection, tournament_id: int, viewer: AuthenticatedCaller | None) -> PairsApart:
    """The pairs whom draws keep apart. Raises NotFound, and NotAllowed for all but the organizer."""
    users.require_director(db, tournament_id, viewer)
    if viewer is None or not viewer.may("manage"):
        raise NotAllowed
    return PairsApart(pairs=loaded.load_tournament(db, tournament_id).state.apart)
