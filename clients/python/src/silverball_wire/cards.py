"""Cards: a fixed number of single player games scored as one."""

from silverball_wire.base import Instant, Wire
from silverball_wire.singleplayer import SinglePlayerGame
from silverball_wire.values import AttemptStatus, Number


class Card(Wire, frozen=True, kw_only=True):
    """A card of an entrant. Source: interface 4.4, samples/card-single.json."""

    card_id: int
    tournament_id: int
    player_id: int
    status: AttemptStatus
    """`started`, or `completed` once all its games have results."""
    best_game: bool
    created_at: Instant
    updated_at: Instant
    voided: bool
    single_player_games: tuple[SinglePlayerGame, ...]
    single_player_game_ids: tuple[int, ...]
    arena_ids: tuple[int | None, ...]
    """Ids of the arenas of its games, in order."""
    points_list: tuple[Number | None, ...]
    """Points of its games, in order; null for games without a result."""
