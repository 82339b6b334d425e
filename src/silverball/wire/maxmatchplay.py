"""The live view of a max match play."""

from silverball.wire.base import Wire
from silverball.wire.games import Game
from silverball.wire.values import Number


class MaxMatchplayPlayer(Wire, frozen=True, kw_only=True):
    """Whom and what a player has met so far. Source: samples/max-matchplay.json."""

    player_id: int
    game_count: int
    # Seconds since 1970 when the last required game ended.
    completed_time: int | None
    arena_counts: dict[int, int]
    opponent_counts: dict[int, int]
    # In order of play.
    all_opponents: tuple[int, ...]


class MaxMatchplayState(Wire, frozen=True, kw_only=True):
    """Started games, players and what is left. Source: samples/max-matchplay.json."""

    games: tuple[Game, ...]
    players: tuple[MaxMatchplayPlayer, ...]
    remaining_games: int
    # Seconds.
    avg_game_duration: Number | None
