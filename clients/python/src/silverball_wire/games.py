"""Games of two to four entrants."""

from typing import Any

from silverball_wire.arenas import Arena
from silverball_wire.base import UNSET, Instant, UnsetType, Wire
from silverball_wire.values import GameStatus


class Suggestion(Wire, frozen=True, kw_only=True):
    """A result reported by a player. Source: samples/game-single.json."""

    suggestion_id: int
    game_id: int
    round_id: int
    tournament_id: int
    player_id: int | None
    """Id of the player who reported; null when it is not known."""
    user_id: int | None
    """Id of the account that reported; null when it is not known."""
    results: tuple[int | None, ...]
    """Ids of the players from first to last as reported."""
    arena_id: int | None
    scores: dict[int, int | str | None] | None
    """Scores as reported, by player id; null without them."""
    scorbit_data: dict[str, Any] | None
    """Report of Scorbit, as imported; null otherwise."""
    partial: bool
    """Whether the report names only some of the players."""


class Leg(Wire, frozen=True, kw_only=True):
    """A single game of a match in a bracket, where the single games are recorded."""

    game_id: int
    """Id of the match."""
    tournament_id: int
    leg: int
    """Number of the single game in its match, from 1."""
    arena_id: int | None
    """Id of the arena; null when it is not known."""
    result_positions: tuple[int, ...]
    """Ids of the winner and of the loser."""
    recorded_at: Instant | None
    """Time at which it was recorded; null when it is not known."""


class GameSummary(Wire, frozen=True, kw_only=True):
    """A game without its players and results. Source: samples/games-global.json."""

    game_id: int
    round_id: int
    """Id of the round; 0 in formats without rounds."""
    tournament_id: int
    challenge_id: int | None = None
    arena_id: int | None
    """Id of the arena; null for none."""
    bank_id: int | None
    index: int | None
    """Position of the game within its group, from 0; null in formats without groups. In a bracket its number:
    the final is 1, games 2n and 2n + 1 feed game n, the game for third place is 0, and the one for the
    places 5 to 8 is 9999."""
    set: int
    """Group within the round, from 0; 9999 for a bye. In double elimination 0 for the winners' side, 1 for
    the losers' and 2 for the finals."""
    player_id_advantage: int | None
    """Id of the player who chooses arena or order; null without one."""
    scorekeeper_id: int | None
    status: GameStatus
    """`started`, or `completed` once it has a result."""
    started_at: Instant | None
    # Seconds.
    duration: int | None
    bye: bool
    """Whether it is a bye, in which nobody plays."""
    scorbit_id: str | None = None
    scorbit_log: str | None = None
    scorbit_verified: bool = False
    tiebreak: bool | UnsetType = UNSET
    """True on a game that only separates tied players: its points count for nothing else; absent on all
    others."""
    waiting_since: Instant | UnsetType = UNSET
    """Time since when the clock of an open game stands still, as its machine is out of order; absent while
    the clock runs."""
    match_number: int | UnsetType = UNSET
    """Number of a match in its bracket, from 1 in playing order without byes, as players read it; absent on
    all other games."""


class Game(GameSummary, frozen=True, kw_only=True):
    """A game; each list but `resultPositions` is in playing order. Source: samples/game-single.json."""

    player_ids: tuple[int, ...]
    """Ids of the players in playing order."""
    user_ids: tuple[int | None, ...]
    result_positions: tuple[int | None, ...]
    """Ids of the players from first to last; null for a place without a player yet, and in a match of a
    bracket that is counted by games."""
    result_points: tuple[str | None, ...]
    """Points of the players in playing order, as text with two decimals; null without a result. In a match
    of a bracket that is counted by games, the games won."""
    result_scores: tuple[int | str | None, ...]
    """Scores in playing order, null for those that were not recorded."""
    result_count_mismatch: bool = False
    """Whether an imported game has fewer results than players."""
    arena: Arena | UnsetType = UNSET
    """The arena; absent where it is not asked for, and where the game has none."""
    suggestions: tuple[Suggestion, ...] | UnsetType = UNSET
