"""Actions of an organizer's book as a whole."""

from typing import Literal

from silverball_wire.base import Wire

BookActionKind = Literal["arenasMerged", "playersImported", "arenasImported"]


class BookKept(Wire, frozen=True, kw_only=True):
    """A row of the book that an undo left as it was. Our addition."""

    player_id: int | None = None
    """The player who stays; null for a machine."""
    arena_id: int | None = None
    """The machine that stays; null for a player."""
    reason: str
    """Why it stays, as a sentence."""


class BookAction(Wire, frozen=True, kw_only=True):
    """A merge of machines, or a list that was read into the book: each can be undone. Our addition."""

    book_action_id: int
    """Id of the action; undoing takes it."""
    kind: BookActionKind
    """What was done."""
    at: str
    undone_at: str | None
    """When it was undone; null while it is in force."""
    arena_ids: tuple[int, ...] = ()
    """Of a merge the removed machine and the one that remains; of a list the machines that it added."""
    player_ids: tuple[int, ...] = ()
    """The players that a list added."""
    numbered_player_ids: tuple[int, ...] = ()
    """Players of the book who got their federation number from a list."""
    kept: tuple[BookKept, ...] = ()
    """What the undo left, because it is used or was changed since."""
