"""Games of two to four entrants."""

from typing import Any

from silverball.wire.arenas import Arena
from silverball.wire.base import UNSET, UnsetType, Wire
from silverball.wire.values import GameStatus


class Suggestion(Wire, frozen=True, kw_only=True):
    """A result reported by a player. Source: samples/game-single.json."""

    suggestion_id: int
    game_id: int
    round_id: int
    tournament_id: int
    player_id: int | None
    user_id: int | None
    results: tuple[int | None, ...]
    arena_id: int | None
    scores: dict[int, int | str | None] | None
    scorbit_data: dict[str, Any] | None
    partial: bool


class GameSummary(Wire, frozen=True, kw_only=True):
    """A game without its players and results. Source: samples/games-global.json."""

    game_id: int
    # 0 in formats without rounds.
    round_id: int
    tournament_id: int
    challenge_id: int | None = None
    arena_id: int | None
    bank_id: int | None
    # The game within its group, from 0.
    index: int | None
    # The group within its round, from 0; 9999 for a bye.
    set: int
    player_id_advantage: int | None
    scorekeeper_id: int | None
    status: GameStatus
    started_at: str | None
    # Seconds.
    duration: int | None
    bye: bool
    scorbit_id: str | None = None
    scorbit_log: str | None = None
    scorbit_verified: bool = False


class Game(GameSummary, frozen=True, kw_only=True):
    """A game; each list but `resultPositions` is in playing order. Source: samples/game-single.json."""

    player_ids: tuple[int, ...]
    user_ids: tuple[int | None, ...]
    # Player ids from first to last, whatever the name says.
    result_positions: tuple[int | None, ...]
    result_points: tuple[str | None, ...]
    result_scores: tuple[int | str | None, ...]
    result_count_mismatch: bool = False
    arena: Arena | UnsetType | None = UNSET
    suggestions: tuple[Suggestion, ...] | UnsetType = UNSET
