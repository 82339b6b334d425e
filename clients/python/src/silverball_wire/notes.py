"""Notes on games, for directors and scorekeepers. Our addition."""

from typing import Literal

from silverball_wire.base import Instant, Wire

NoteKind = Literal["malfunction", "warning", "yellow", "red", "disqualified", "zero", "slow", "other"]


class GameNote(Wire, frozen=True, kw_only=True):
    """A note on a game, which directors and scorekeepers see."""

    note_id: int
    """Id of the note."""
    tournament_id: int
    game_id: int
    player_id: int | None
    """Id of the player whom it is about; null for the whole game."""
    kind: NoteKind
    """Kind of ruling."""
    text: str
    """The note in words."""
    user_id: int | None
    """Id of the account that wrote it; null for a scorekeeper's device."""
    created_at: Instant
