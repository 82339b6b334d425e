"""Single player games: one entrant, one score, one arena."""

from silverball_wire.base import UNSET, Instant, UnsetType, Wire
from silverball_wire.values import AttemptStatus


class SinglePlayerGame(Wire, frozen=True, kw_only=True):
    """An attempt of one entrant. Source: interface 4.4, samples/single-player-games.json."""

    single_player_game_id: int
    arena_id: int | None
    """Id of the arena; null for none."""
    player_id: int
    scorekeeper_id: int | None
    status: AttemptStatus
    """`pending` before it begins, `started` while it is played, `completed` with a result."""
    points: str | None
    """Points as text with two decimals; null without a result."""
    score: int | str | None
    """Score on the machine's display; text for pinbowling, null without a result."""
    best_game: bool
    index: int | None
    """Position of the game on its card or in its course, from 0; null elsewhere."""
    # Seconds.
    duration: int | None
    created_at: Instant
    updated_at: Instant
    voided: bool
    scorbit_id: str | None = None
    scorbit_log: str | None = None
    scorbit_verified: bool = False
    tournament_id: int | UnsetType = UNSET
    round_id: int | UnsetType | None = UNSET
    """Id of the hole or frame; absent for other games."""
    card_id: int | UnsetType | None = UNSET
    """Id of the card; absent for games that are on none."""
