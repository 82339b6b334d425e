"""Cards: a fixed number of single player games scored as one."""

from silverball_client.shapes.base import Shape
from silverball_client.shapes.singleplayer import SinglePlayerGame


class Card(Shape, frozen=True, kw_only=True):
    """A card of an entrant."""

    card_id: int
    tournament_id: int
    player_id: int
    status: str
    best_game: bool
    created_at: str
    updated_at: str
    voided: bool
    single_player_games: tuple[SinglePlayerGame, ...]
    single_player_game_ids: tuple[int, ...]
    arena_ids: tuple[int | None, ...]
    points_list: tuple[int | float | None, ...]
