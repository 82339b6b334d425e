"""Statistics of a running or completed tournament."""

from silverball_wire.base import Wire
from silverball_wire.values import Number

# One object per player: `playerId`, sometimes `name`, and a count under each id or position.
CountRow = dict[str, int | str | None]


class MatchplayStats(Wire, frozen=True, kw_only=True):
    """The number of games played. Source: samples/stats-matchplay.json."""

    avg_games_per_player: Number
    """Number of games of a player, on average."""
    total_games: int
    """Number of games in the tournament."""


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
    """Number of games in the round."""


class ArenaStats(Wire, frozen=True, kw_only=True):
    """The duration of games on an arena. Source: samples/stats-arenas.json."""

    arena_id: int
    name: str
    game_count: int
    """Number of completed games on the arena."""
    avg_duration: Number | None
    """Length of a game in seconds, on average; null before the first one."""
    min_duration: int | None
    """Length of the shortest game in seconds; null before the first one."""
    max_duration: int | None
    """Length of the longest game in seconds; null before the first one."""


class PlayerStats(Wire, frozen=True, kw_only=True):
    """Counts of each player's places, arenas and opponents. Source: samples/stats-players.json."""

    position_counts: tuple[CountRow, ...]
    """Number of places by player."""
    arena_counts: tuple[CountRow, ...]
    """Number of games of each player by arena."""
    opponent_counts: tuple[CountRow, ...]
    """Number of games of each player by opponent."""


class MatchStats(Wire, frozen=True, kw_only=True):
    """A player's games and wins against an opponent. Source: interface.md 2, row 27."""

    player_id: int
    opponent_id: int
    games: int
    """Number of games that both played in."""
    wins: int
    losses: int


class BestGameStats(Wire, frozen=True, kw_only=True):
    """The numbers of played and voided games and cards. Source: samples/stats-bestgame.json."""

    game_count: int
    """Number of valid games."""
    voided_count: int
    """Number of voided games."""
    card_count: int
    """Number of valid cards."""
    voided_card_count: int
    """Number of voided cards."""
