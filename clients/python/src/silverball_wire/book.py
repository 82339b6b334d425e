"""Actions of an organizer's book as a whole."""

from typing import Literal

from silverball_wire.base import Wire

BookActionKind = Literal["arenasMerged", "playersImported", "arenasImported"]


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
