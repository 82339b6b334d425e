"""Games of two to four entrants."""

from typing import Any

from msgspec import UNSET, UnsetType

from silverball_client.shapes.arenas import Arena
from silverball_client.shapes.base import Shape


class Suggestion(Shape, frozen=True, kw_only=True):
    """A result reported by a player."""

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


class Leg(Shape, frozen=True, kw_only=True):
    """A single game of a match in a bracket, where the single games are recorded."""

    game_id: int
    tournament_id: int
    leg: int
    arena_id: int | None
    result_positions: tuple[int, ...]
    recorded_at: str | None


class GameSummary(Shape, frozen=True, kw_only=True):
    """A game without its players and results."""

    game_id: int
    round_id: int
    tournament_id: int
    challenge_id: int | None = None
    arena_id: int | None
    bank_id: int | None
    index: int | None
    set: int
    player_id_advantage: int | None
    scorekeeper_id: int | None
    status: str
    started_at: str | None
    duration: int | None
    bye: bool
    scorbit_id: str | None = None
    scorbit_log: str | None = None
    scorbit_verified: bool = False
    waiting_since: str | UnsetType = UNSET


class Game(GameSummary, frozen=True, kw_only=True):
    """A game; each list but `resultPositions` is in playing order."""

    player_ids: tuple[int, ...]
    user_ids: tuple[int | None, ...]
    result_positions: tuple[int | None, ...]
    result_points: tuple[str | None, ...]
    result_scores: tuple[int | str | None, ...]
    result_count_mismatch: bool = False
    arena: Arena | UnsetType = UNSET
    suggestions: tuple[Suggestion, ...] | UnsetType = UNSET
