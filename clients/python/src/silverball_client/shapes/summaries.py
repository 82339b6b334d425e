"""Summaries of a completed tournament."""

from silverball_client.shapes.base import Shape


class ArenaSummary(Shape, frozen=True, kw_only=True):
    """The number of games on an arena."""

    tournament_id: int
    user_id: int
    arena_id: int
    tournament_date: str
    games: int
    single_player_games: int
    total_games: int
    opdb_group: str | None
    opdb_id: str | None


class PlayerArenaSummary(ArenaSummary, frozen=True, kw_only=True):
    """A player's results on an arena."""

    player_id: int
    wins: int
    losses: int


class MatchSummary(Shape, frozen=True, kw_only=True):
    """A player's results against an opponent on an arena."""

    tournament_id: int
    user_id: int
    arena_id: int
    player_id: int
    opponent_id: int
    tournament_date: str
    games: int
    wins: int
    losses: int
    opdb_group: str | None
    opdb_id: str | None
