"""Cards: a fixed number of single player games scored as one."""

from silverball.wire.base import Wire
from silverball.wire.singleplayer import SinglePlayerGame
from silverball.wire.values import AttemptStatus, Number


class Card(Wire, frozen=True, kw_only=True):
    """A card of an entrant. Source: interface 4.4, samples/card-single.json."""

    card_id: int
    tournament_id: int
    player_id: int
    status: AttemptStatus
    best_game: bool
    created_at: str
    updated_at: str
    voided: bool
    single_player_games: tuple[SinglePlayerGame, ...]
    single_player_game_ids: tuple[int, ...]
    arena_ids: tuple[int | None, ...]
    # JSON numbers here, but text in games.
    points_list: tuple[Number | None, ...]
