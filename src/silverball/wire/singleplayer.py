"""Single player games: one entrant, one score, one arena."""

from silverball.wire.base import UNSET, UnsetType, Wire
from silverball.wire.values import AttemptStatus


class SinglePlayerGame(Wire, frozen=True, kw_only=True):
    """An attempt of one entrant. Source: interface 4.4, samples/single-player-games.json."""

    single_player_game_id: int
    arena_id: int | None
    player_id: int
    scorekeeper_id: int | None
    status: AttemptStatus
    # Two decimals: "200.00".
    points: str | None
    score: int | str | None
    best_game: bool
    index: int | None
    # Seconds.
    duration: int | None
    created_at: str
    updated_at: str
    voided: bool
    scorbit_id: str | None = None
    scorbit_log: str | None = None
    scorbit_verified: bool = False
    tournament_id: int | UnsetType = UNSET
    # A hole or frame has a round, a game on a card has a card; the other key is absent.
    round_id: int | UnsetType | None = UNSET
    card_id: int | UnsetType | None = UNSET
