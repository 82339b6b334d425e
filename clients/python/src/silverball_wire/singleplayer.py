"""Single player games: one entrant, one score, one arena."""

from silverball_wire.base import UNSET, Instant, UnsetType, Wire
from silverball_wire.games import Game
from silverball_wire.values import AttemptStatus, Number


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


# Cards: a fixed number of single player games scored as one.


class Card(Wire, frozen=True, kw_only=True):
    """A card of an entrant. Source: interface 4.4, samples/card-single.json."""

    card_id: int
    tournament_id: int
    player_id: int
    status: AttemptStatus
    """`started`, or `completed` once all its games have results."""
    best_game: bool
    created_at: Instant
    updated_at: Instant
    voided: bool
    single_player_games: tuple[SinglePlayerGame, ...]
    single_player_game_ids: tuple[int, ...]
    arena_ids: tuple[int | None, ...]
    """Ids of the arenas of its games, in order."""
    points_list: tuple[Number | None, ...]
    """Points of its games, in order; null for games without a result."""


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


# Entries of best game players, bought or given. Our addition; the CSV of entries has the same.


class EntryPurchase(Wire, frozen=True, kw_only=True):
    """A number of entries bought or comped; refunds have a negative quantity."""

    entry_id: int
    """Id of the purchase."""
    tournament_id: int
    player_id: int
    type: str
    """`regular`, `comped` or `refund`."""
    quantity: int
    """Number of entries, below 0 for a refund."""
    amount: Number | None
    currency: str | None
    created_at: Instant
