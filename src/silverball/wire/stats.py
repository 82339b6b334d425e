"""Statistics of a running or completed tournament."""

from silverball.wire.base import Wire
from silverball.wire.values import Number

# One object per player: `playerId`, sometimes `name`, and a count under each id or position.
CountRow = dict[str, int | str | None]


class MatchplayStats(Wire, frozen=True, kw_only=True):
    """The number of games played. Source: samples/stats-matchplay.json."""

    avg_games_per_player: Number
    total_games: int


class RoundStats(Wire, frozen=True, kw_only=True):
    """The duration of a round. Source: samples/stats-rounds.json."""

    round_id: int
    tournament_id: int
    index: int
    name: str
    duration: int | None
    created_at: str | None
    completed_at: str | None
    game_count: int


class ArenaStats(Wire, frozen=True, kw_only=True):
    """The duration of games on an arena. Source: samples/stats-arenas.json."""

    arena_id: int
    name: str
    game_count: int
    avg_duration: Number | None
    min_duration: int | None
    max_duration: int | None


class PlayerStats(Wire, frozen=True, kw_only=True):
    """Counts of each player's places, arenas and opponents. Source: samples/stats-players.json."""

    position_counts: tuple[CountRow, ...]
    arena_counts: tuple[CountRow, ...]
    opponent_counts: tuple[CountRow, ...]


class MatchStats(Wire, frozen=True, kw_only=True):
    """A player's games and wins against an opponent. Source: interface.md 2, row 27."""

    player_id: int
    opponent_id: int
    games: int
    wins: int
    losses: int


class BestGameStats(Wire, frozen=True, kw_only=True):
    """The numbers of played and voided games and cards. Source: samples/stats-bestgame.json."""

    game_count: int
    voided_count: int
    card_count: int
    voided_card_count: int
