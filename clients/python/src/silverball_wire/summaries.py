"""Summaries of a completed tournament."""

from silverball_wire.base import Day, Wire


class ArenaSummary(Wire, frozen=True, kw_only=True):
    """The number of games on an arena. Source: interface 4.6, samples/summary-arenas.json."""

    tournament_id: int
    user_id: int
    """Id of the organizer's account."""
    arena_id: int
    tournament_date: Day
    games: int
    """Number of games of several players."""
    single_player_games: int
    """Number of single player games."""
    total_games: int
    opdb_group: str | None
    opdb_id: str | None


class PlayerArenaSummary(ArenaSummary, frozen=True, kw_only=True):
    """A player's results on an arena. Source: interface 4.6, samples/summary-player-arenas.json."""

    player_id: int
    wins: int
    losses: int


class MatchSummary(Wire, frozen=True, kw_only=True):
    """A player's results against an opponent on an arena. Source: samples/summary-matches.json."""

    tournament_id: int
    user_id: int
    """Id of the organizer's account."""
    arena_id: int
    player_id: int
    opponent_id: int
    tournament_date: Day
    games: int
    """Number of games that both played in."""
    wins: int
    losses: int
    opdb_group: str | None
    opdb_id: str | None
