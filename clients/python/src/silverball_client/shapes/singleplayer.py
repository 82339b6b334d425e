"""Single player games: one entrant, one score, one arena."""

from msgspec import UNSET, UnsetType

from silverball_client.shapes.base import Shape


class SinglePlayerGame(Shape, frozen=True, kw_only=True):
    """An attempt of one entrant."""

    single_player_game_id: int
    arena_id: int | None
    player_id: int
    scorekeeper_id: int | None
    status: str
    points: str | None
    score: int | str | None
    best_game: bool
    index: int | None
    duration: int | None
    created_at: str
    updated_at: str
    voided: bool
    scorbit_id: str | None = None
    scorbit_log: str | None = None
    scorbit_verified: bool = False
    tournament_id: int | UnsetType = UNSET
    round_id: int | UnsetType | None = UNSET
    card_id: int | UnsetType | None = UNSET
