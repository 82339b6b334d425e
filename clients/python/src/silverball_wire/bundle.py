"""A whole tournament in one file, for import and export."""

from typing import Annotated, Any

from msgspec import Meta

from silverball_wire.arenas import Arena, Bank
from silverball_wire.base import UNSET, Id, Instant, UnsetType, Wire
from silverball_wire.games import Game, Leg
from silverball_wire.players import Player
from silverball_wire.prizes import PrizePayout, SignUpPayment
from silverball_wire.queues import QueueEntry
from silverball_wire.rounds import CalledGame, ExtendedGame, NoteKind, Round
from silverball_wire.series import Series
from silverball_wire.singleplayer import Card, SinglePlayerGame
from silverball_wire.standings import Standing
from silverball_wire.tournaments import Tournament
from silverball_wire.users import User

# Facts of a tournament that no answer shows, and from which its play goes on; for bundles.


class EntrantFacts(Wire, frozen=True, kw_only=True):
    """A player's stored numbers: place among the players, seed, adjustments by hand, byes, order of ties."""

    player_id: int
    place: int
    """Number of the player in the order in which they were added, from 0."""
    seed_rank: int | None
    """Order of the seeds, 1 is best."""
    adjusted_after: int | None
    """Number of completed rounds at the last adjustment by hand."""
    byes_credited: int | None
    """Byes that a late player is counted as having had."""
    tie_group: int | None
    """Number of the tie that an organizer decided."""
    tie_place: int | None
    """Place in that tie."""
    tie_drawn: bool | None = None
    """Whether that order was drawn by lot; null where it was not."""


class GameFacts(Wire, frozen=True, kw_only=True):
    """A forfeit, or a game whose real order its result does not show."""

    game_id: int
    is_tiebreak: bool | UnsetType = UNSET
    """Only in files of versions before 0.3.0, whose games have no `tiebreak`."""
    forfeited_by: int | None
    """Id of the player who forfeited."""
    gave_up: tuple[int, ...] | None = None
    """Ids of the players who gave up, where several did or in a larger group; null otherwise."""
    finishing_order: tuple[int, ...] | None
    """Ids of the players, first to last, where `resultPositions` does not show it."""


class AttemptFacts(Wire, frozen=True, kw_only=True):
    """A single player game's rolls and clock, and its stored points, which running tournaments compute."""

    single_player_game_id: int
    rolls: tuple[int, ...] | None
    """Pins of each roll of a frame."""
    is_advanced: bool | None
    """Whether the player was safe without a score."""
    started_at: Instant | None
    points: str | None
    """Points as they are stored; null where they are computed."""
    best_game: bool


class ReleasedLaterPair(Wire, frozen=True, kw_only=True):
    """Two players whose game a schedule has not released yet."""

    player_ids: tuple[int, ...]
    """Ids of the two players."""


class UnfinishedRound(Wire, frozen=True, kw_only=True):
    """The round that was open when the tournament was closed."""

    round_index: int
    """Number of the round, from 0."""
    player_ids: tuple[int, ...]
    """Ids of the players whose game was not finished."""


class TimedRound(Wire, frozen=True, kw_only=True):
    """The round whose end was set by hand."""

    round_id: int
    ends_at: Instant | None
    """Time at which its timer runs out; null for a round without a timer."""


class PurchaseFacts(Wire, frozen=True, kw_only=True):
    """Entries that were bought, given or taken back."""

    entry_id: int
    player_id: int
    type: str
    """`regular`, `comped` or `refund`."""
    quantity: int
    amount: str | None
    """Price paid, with two decimals; null when it is not known."""
    currency: str | None
    status: str
    created_at: Instant


class PrizeFacts(Wire, frozen=True, kw_only=True):
    """The prize money as its organizer set it, and the payouts. Money is cents."""

    entry_fee: int
    """Fee of each player."""
    players_paid: int | None
    """Number of players who paid; null counts every player."""
    extras: int
    """Money beside the fees."""
    payments: int | UnsetType = UNSET
    """Payments of the sign-up list that the pot was filled from; absent without them."""
    federation_fee: int
    """Fee of the federation for each player."""
    house_share: int
    """Share of the house, in hundredths of a percent."""
    shares: tuple[int, ...]
    """Shares of the places, in hundredths of a percent."""
    rounding: int
    """Unit to which prizes are rounded down."""
    currency: str | None
    published: bool
    """Whether the public pages show it."""
    payouts: tuple[PrizePayout, ...]
    """Prizes that were paid out, by player."""


class NoteFacts(Wire, frozen=True, kw_only=True):
    """A note on a game, which directors and scorekeepers see."""

    game_id: int
    player_id: int | None
    """Id of the player whom it is about; null for the whole game."""
    kind: NoteKind
    """Kind of ruling."""
    text: str
    """The note in words."""
    user_id: int | None
    """Id of the account that wrote it; null for a scorekeeper's device."""
    created_at: Instant
    action_id: int | UnsetType = UNSET
    """Number of its action in the journal; absent without the journal."""


class SignUpFacts(Wire, frozen=True, kw_only=True):
    """A person on the sign-up list, as it is stored."""

    player_id: int
    waiting_place: int | None
    """Order on the waiting list; null for who does not wait."""
    signed_up_at: Instant | None
    """Time of the sign-up, in UTC; null when it is not known."""
    is_late: bool
    """Whether they owe the late fee."""
    checked_in_at: Instant | None
    """Time at which they were ticked as here, in UTC; null when they were not."""
    payment: SignUpPayment | None
    """What was paid; null when nothing was."""


class SignUpTermsFacts(Wire, frozen=True, kw_only=True):
    """Fees of the sign-up list in cents, and how often its code was replaced."""

    fee: int
    """Fee of a player."""
    late_fee: int
    """Fee beside it for who signs up late."""
    late_from: Instant | None
    """Time from which the late fee is due, in UTC; null when it is due from the start."""
    code_number: int
    """Number of times that the code of the door was replaced."""


class ResultIds(Wire, frozen=True, kw_only=True):
    """Games and single player games that have a result."""

    game_ids: tuple[int, ...] = ()
    """Ids of the games."""
    single_player_game_ids: tuple[int, ...] = ()


class ReopeningFacts(Wire, frozen=True, kw_only=True):
    """A completed tournament as it was when it was last reopened."""

    first_completed_at: Instant
    """When it was completed for the first time."""
    completed_at: Instant
    """When it counted as completed then."""
    played_until: Instant
    """The end of its last game that was rated."""
    results: ResultIds
    """What had a result then."""
    late: ResultIds
    """Those of them that were played too late to be rated."""


class FinalStepFacts(Wire, frozen=True, kw_only=True):
    """A step to a final, as it was planned."""

    name: str
    type: str
    players: int | None
    """Number of players who go on; null where another rule says it."""
    half: bool
    """Whether the upper half goes on."""
    within: str | None
    """All within so many points of the best go on; null where another rule says it."""
    settings: dict[str, Any]
    """Settings of its format that were chosen, by wire name."""


class FinalSourceFacts(Wire, frozen=True, kw_only=True):
    """The tournament or series that a final was made from."""

    source_tournament: int | None
    """Number of the tournament on the site where the final was made; null for a series."""
    source_series: int | None
    """Number of the series on the site where the final was made; null for a tournament."""
    nights_min: int
    """Number of nights of the series that a player must have attended."""
    steps: tuple[FinalStepFacts, ...]
    """Steps up to that of the final, which is the last."""
    given_ids: tuple[int, ...]
    """Ids of the players whom the source gave, best first."""
    seeded_ids: tuple[int, ...]
    """Ids of the players as they were seeded then."""
    fills_up: bool
    """Whether the next in line replaces who was taken out."""


class SentPlaceFacts(Wire, frozen=True, kw_only=True):
    """A player and their place in results that were sent."""

    player_id: int
    position: int


class SentResultsFacts(Wire, frozen=True, kw_only=True):
    """The results as they were sent to the federation."""

    sent_at: Instant
    """When they were noted as sent."""
    places: tuple[SentPlaceFacts, ...]
    """Places of those in the file."""


class EngineFacts(Wire, frozen=True, kw_only=True):
    """Facts beside the published shapes from which play goes on: draws, clock, schedule, each part."""

    dice_seed: str | None
    """The seed of all draws; null before completion, as whoever knows it can compute the draws to come."""
    redraws: dict[str, int]
    """Number of redraws by the name of a draw."""
    clock_ends_at: Instant | None
    """Time at which the clock runs out; null while it is paused or not started."""
    round_minutes: int | None = None
    """Minutes that a round may take; null without a round timer."""
    timed_round: TimedRound | None = None
    calls: tuple[CalledGame, ...] = ()
    extended_games: tuple[ExtendedGame, ...] | UnsetType = UNSET
    """Games with extra time, by id; absent without any."""
    director_ids: tuple[int, ...] | UnsetType = UNSET
    """Ids of the scorekeepers who run the tournament with its organizer; absent without any."""
    schedule: tuple[ReleasedLaterPair, ...]
    unfinished_round: UnfinishedRound | None
    finals: tuple[FinalStepFacts, ...] | UnsetType = UNSET
    """Finals that the tournament leads to; absent without any."""
    final_source: FinalSourceFacts | UnsetType = UNSET
    """What the tournament was made from as a final; absent where it is none."""
    results_sent: SentResultsFacts | UnsetType = UNSET
    """What was sent to the federation; absent where nothing was."""
    left_ids: tuple[int, ...] | UnsetType = UNSET
    """Ids of the players who left a fixed schedule, and keep their places in it; absent without any."""
    entrants: tuple[EntrantFacts, ...]
    games: tuple[GameFacts, ...]
    """Games that differ from an ordinary one."""
    single_player_games: tuple[AttemptFacts, ...]
    purchases: tuple[PurchaseFacts, ...]
    """Entries that were bought, given or taken back, by id."""
    prizes: PrizeFacts | UnsetType = UNSET
    """The prize money; absent without any."""
    notes: tuple[NoteFacts, ...] | UnsetType = UNSET
    """Notes on games, oldest first; absent without any."""
    sign_ups: tuple[SignUpFacts, ...] | UnsetType = UNSET
    """People on the sign-up list, by player; absent without any."""
    sign_up_terms: SignUpTermsFacts | UnsetType = UNSET
    """Fees of the sign-up list; absent where none were set."""
    reopening: ReopeningFacts | UnsetType = UNSET
    """The last reopening; absent where it was never reopened."""


class JournalLine(Wire, frozen=True, kw_only=True):
    """A line as it is stored: its hash covers it and the line before. Source: docs/proof.md."""

    action_id: Id
    change: str
    data: dict[str, Any]
    """What was changed, with the names of the rules."""
    dice_seed: str | None
    draw_version: int | None
    actor_id: Id | None
    """Account that did it; null for the service itself and for a device."""
    source: str
    """Address that it was done from, empty when that was erased."""
    at: Instant
    source_salt: str | None
    source_hash: str
    sealed_labels: dict[str, Any] | None
    """Salt and salted hashes of the labels in `data`; null for a line without labels."""
    hash: str


SOURCE_LENGTH_MAX = 200


class Bundle(Wire, frozen=True, kw_only=True):
    """A tournament with all its parts; players and arenas are inside `tournament`."""

    # The name of the database that wrote the file, whose ids it has; absent in files of other services.
    source: Annotated[str, Meta(min_length=1, max_length=SOURCE_LENGTH_MAX)] | UnsetType = UNSET
    tournament: Tournament
    rounds: tuple[Round, ...]
    games: tuple[Game, ...]
    # The single games of the matches of a bracket.
    legs: tuple[Leg, ...] | UnsetType = UNSET
    single_player_games: tuple[SinglePlayerGame, ...] | UnsetType = UNSET
    cards: tuple[Card, ...] | UnsetType = UNSET
    standings: tuple[Standing, ...] | UnsetType = UNSET
    queues: tuple[QueueEntry, ...] | UnsetType = UNSET
    banks: tuple[Bank, ...] | UnsetType = UNSET
    series: Series | UnsetType | None = UNSET
    scorekeepers: tuple[User, ...] | UnsetType = UNSET
    journal_head: str | UnsetType = UNSET
    # Facts that no published shape has; absent in files that were made from another service's answers.
    engine: EngineFacts | UnsetType = UNSET
    # All lines, first to last; only where it was asked for.
    journal: tuple[JournalLine, ...] | UnsetType = UNSET
    # Players and arenas that the journal names and that the tournament no longer has.
    former_players: tuple[Player, ...] | UnsetType = UNSET
    former_arenas: tuple[Arena, ...] | UnsetType = UNSET
    # People on the sign-up list who are not in the tournament.
    sign_up_players: tuple[Player, ...] | UnsetType = UNSET
