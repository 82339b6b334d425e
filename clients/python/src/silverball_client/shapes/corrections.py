"""Results with the consequences of their correction. Our addition."""

from msgspec import UNSET, UnsetType

from silverball_client.shapes.base import Shape
from silverball_client.shapes.games import Game
from silverball_client.shapes.singleplayer import SinglePlayerGame


class PlaceAndPoints(Shape, frozen=True, kw_only=True):
    """A player's row of the standings."""

    position: int
    points: str | int | float | None
    strike_count: int | None


class CorrectedStanding(Shape, frozen=True, kw_only=True):
    """A player whose place, points or strikes a correction changes."""

    player_id: int
    before: PlaceAndPoints | None
    after: PlaceAndPoints | None


class Correction(Shape, frozen=True, kw_only=True):
    """The consequences of a correction."""

    dry_run: bool
    standings: tuple[CorrectedStanding, ...]
    out: tuple[int, ...]
    back_in: tuple[int, ...]
    deleted_rounds: tuple[int, ...]
    deleted_games: tuple[int, ...]
    deleted_single_player_games: tuple[int, ...]


class RecordedGame(Shape, frozen=True, kw_only=True):
    """A game with its result, and the consequences where one was corrected."""

    data: Game
    correction: Correction | UnsetType = UNSET


class RecordedSinglePlayerGame(Shape, frozen=True, kw_only=True):
    """A single player game with its result, and the consequences where one was corrected."""

    data: SinglePlayerGame
    correction: Correction | UnsetType = UNSET
