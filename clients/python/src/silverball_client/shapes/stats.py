"""Statistics of a running or completed tournament."""

from silverball_client.shapes.base import Shape


class MatchplayStats(Shape, frozen=True, kw_only=True):
    """The number of games played."""

    avg_games_per_player: int | float
    total_games: int


class RoundStats(Shape, frozen=True, kw_only=True):
    """The duration of a round."""

    round_id: int
    tournament_id: int
    index: int
    name: str
    duration: int | None
    created_at: str | None
    completed_at: str | None
    game_count: int


class ArenaStats(Shape, frozen=True, kw_only=True):
    """The duration of games on an arena."""

    arena_id: int
    name: str
    game_count: int
    avg_duration: int | float | None
    min_duration: int | None
    max_duration: int | None


class PlayerStats(Shape, frozen=True, kw_only=True):
    """Counts of each player's places, arenas and opponents."""

    position_counts: tuple[dict[str, int | str | None], ...]
    arena_counts: tuple[dict[str, int | str | None], ...]
    opponent_counts: tuple[dict[str, int | str | None], ...]


class MatchStats(Shape, frozen=True, kw_only=True):
    """A player's games and wins against an opponent."""

    player_id: int
    opponent_id: int
    games: int
    wins: int
    losses: int


class BestGameStats(Shape, frozen=True, kw_only=True):
    """The numbers of played and voided games and cards."""

    game_count: int
    voided_count: int
    card_count: int
    voided_card_count: int
