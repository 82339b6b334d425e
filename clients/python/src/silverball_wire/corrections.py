"""Results with the consequences of their correction. Our addition."""

from silverball_wire.base import UNSET, UnsetType, Wire
from silverball_wire.games import Game
from silverball_wire.singleplayer import SinglePlayerGame
from silverball_wire.values import Number


class PlaceAndPoints(Wire, frozen=True, kw_only=True):
    """A player's row of the standings."""

    position: int
    points: str | Number | None
    """Points as the standings show them."""
    strike_count: int | None
    """Number of strikes; 0 outside of knockouts, null in brackets."""


class CorrectedStanding(Wire, frozen=True, kw_only=True):
    """A player whose place, points or strikes a correction changes."""

    player_id: int
    before: PlaceAndPoints | None
    """The row before; null when the standings did not list the player."""
    after: PlaceAndPoints | None
    """The row afterwards; null when the standings no longer list the player."""


class Correction(Wire, frozen=True, kw_only=True):
    """The consequences of a correction."""

    dry_run: bool
    """Whether nothing was stored."""
    standings: tuple[CorrectedStanding, ...]
    """Players whose place, points or strikes change, by place afterwards."""
    out: tuple[int, ...]
    """Ids of the players who are no longer in the next round."""
    back_in: tuple[int, ...]
    """Ids of the players who are in the next round again."""
    deleted_rounds: tuple[int, ...]
    """Ids of the rounds that no longer follow from the results and are deleted."""
    deleted_games: tuple[int, ...]
    """Ids of the games that no longer follow from the results and are deleted."""
    deleted_single_player_games: tuple[int, ...]
    """Ids of the single player games that no longer follow from the results and are deleted."""


class RecordedGame(Wire, frozen=True, kw_only=True):
    """A game with its result, and the consequences where one was corrected."""

    data: Game
    """The game; in a dry run as it is stored."""
    correction: Correction | UnsetType = UNSET
    """The consequences; only with `correction` or `dryRun`."""


class RecordedSinglePlayerGame(Wire, frozen=True, kw_only=True):
    """A single player game with its result, and the consequences where one was corrected."""

    data: SinglePlayerGame
    """The single player game; in a dry run as it is stored."""
    correction: Correction | UnsetType = UNSET
    """The consequences; only with `correction` or `dryRun`."""
