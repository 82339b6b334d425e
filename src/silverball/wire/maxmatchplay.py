"""The live state of a max match play."""

from silverball.wire.base import Wire
from silverball.wire.games import Game
from silverball.wire.values import Number


class MaxMatchplayPlayer(Wire, frozen=True, kw_only=True):
    """A player's opponents and arenas so far. Source: samples/max-matchplay.json."""

    player_id: int
    game_count: int
    # The end of the last required game, in seconds since 1970.
    completed_time: int | None
    arena_counts: dict[int, int]
    opponent_counts: dict[int, int]
    # In playing order.
    all_opponents: tuple[int, ...]


class MaxMatchplayState(Wire, frozen=True, kw_only=True):
    """Started games, players and games left to play. Source: samples/max-matchplay.json."""

    games: tuple[Game, ...]
    players: tuple[MaxMatchplayPlayer, ...]
    remaining_games: int
    # Seconds.
    avg_game_duration: Number | None
