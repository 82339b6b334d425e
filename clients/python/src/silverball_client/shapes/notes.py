"""Notes on games, for directors and scorekeepers. Our addition."""

from silverball_client.shapes.base import Shape


class GameNote(Shape, frozen=True, kw_only=True):
    """A note on a game, which directors and scorekeepers see."""

    note_id: int
    tournament_id: int
    game_id: int
    player_id: int | None
    kind: str
    text: str
    user_id: int | None
    created_at: str
