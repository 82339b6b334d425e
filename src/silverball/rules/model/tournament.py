"""The snapshot that rules work on: one tournament with everything in it, frozen.

Lists are ascending by id, except `player_ids` (playing order) and `entrants` and `lineup` (the order in
which they were added).
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from functools import cached_property
from typing import Any, ClassVar, Literal

from msgspec import UNSET, Struct, UnsetType, field

from silverball.kit.values import replace
from silverball.rules.model.finals import FinalSource, FinalStep
from silverball.rules.model.part_index import Groups, PartIndex, group_items
from silverball.rules.model.settings import TournamentSettings

# Entries of a best game: bought, given or refunded.


class Purchase(Struct, frozen=True, kw_only=True):
    """Entries bought, given or refunded; a refund has a negative quantity."""

    entry_id: int
    player_id: int
    type: Literal["regular", "comped", "refund"]
    quantity: int
    amount: Decimal | None = None
    currency: str | None = None
    created_at: datetime | None = None


# Accounts that record results of a tournament, or direct it.


class Scorekeeper(Struct, frozen=True, kw_only=True):
    """An account that may record results here; a director may do all that the organizer may but delete."""

    user_id: int
    place: int = 0
    is_director: bool = False


# The sign-up list of a tournament: who asked to play, who waits, who is here, who paid. Money is cents.


class SignUpEntry(Struct, frozen=True, kw_only=True):
    """A person on the sign-up list: an entrant, or somebody who waits for a place."""

    player_id: int
    # Order on the waiting list, ascending and not always without gaps; None for who does not wait.
    waiting_place: int | None = None
    # None when it is not known: they were added before the list was used.
    signed_up_at: datetime | None = None
    # They owe the late fee.
    is_late: bool = False
    checked_in_at: datetime | None = None
    payment: "EntryPayment | None" = None


class EntryPayment(Struct, frozen=True, kw_only=True):
    """The fee that somebody paid at the door."""

    cents: int
    # Cash, card, or other words of a director.
    how: str
    # The account that took it; None for the service itself.
    user_id: int | None
    paid_at: datetime


class SignUpTerms(Struct, frozen=True, kw_only=True):
    """Fees of the sign-up list, and how often the code of the door was replaced."""

    fee: int = 0
    # Due beside the fee from `late_from` on, and in any case after the start.
    late_fee: int = 0
    late_from: datetime | None = None
    code_number: int = 0


# Prize money of a tournament as an organizer set it, and the prizes that were paid out. Money is cents.


class Payout(Struct, frozen=True, kw_only=True):
    """A prize that a player was given."""

    player_id: int
    cents: int
    # The account that ticked it; None for the service itself.
    user_id: int | None
    paid_at: datetime


class PrizePlan(Struct, frozen=True, kw_only=True):
    """Where the prize money comes from, what comes off it, and how it is shared."""

    # Shares of the places from the first on, in hundredths of a percent.
    shares: tuple[int, ...]
    entry_fee: int = 0
    # None counts every player of the tournament.
    players_paid: int | None = None
    # Money beside the fees: a sponsor, a raffle.
    extras: int = 0
    federation_fee: int = 0
    # In hundredths of a percent of the pot without the federation's fees.
    house_share: int = 0
    # Prizes are multiples of it.
    rounding: int = 1
    # Three letters; None shows plain figures.
    currency: str | None = None
    is_published: bool = False
    payouts: tuple[Payout, ...] = ()
    # The payments of the sign-up list when the pot was filled from them, in place of fees.
    payments: int | UnsetType = UNSET


# What a completed tournament was when it was reopened, from which it follows what was played since.


class ResultIds(Struct, frozen=True, kw_only=True):
    """Ids of games and single player games that have a result."""

    game_ids: tuple[int, ...] = ()
    single_player_game_ids: tuple[int, ...] = ()


class Reopening(Struct, frozen=True, kw_only=True):
    """A completed tournament as it was when it was last reopened."""

    first_completed_at: datetime
    # Moved from the first one by what was played after earlier reopenings.
    completed_at: datetime
    # The end of its last game that is rated: a result that is entered again says when that was.
    played_until: datetime
    results: ResultIds
    # Those of them that were played too late to be rated.
    late: ResultIds = ResultIds()


# Memory of a tournament beside its results: the seed of its draws, clocks, calls, a schedule.

# What is looked up for each draw, and not stored: the series, seeds, other tournaments, machines for fewer.
OUTSIDE_FACTS = (
    "series_groups",
    "series_plays",
    "seed_facts",
    "players_elsewhere",
    "arenas_elsewhere",
    "arena_limits",
)


class SentPlace(Struct, frozen=True):
    """A player and their place in results that were sent."""

    player_id: int
    position: int


class SentResults(Struct, frozen=True, kw_only=True):
    """The results of an event as they were sent to the federation."""

    sent_at: datetime
    places: tuple[SentPlace, ...]


class EngineState(Struct, frozen=True, kw_only=True):
    """Stored facts that no answer shows."""

    # The source of all draws: the same seed, round and redraw count give the same draw.
    dice_seed: str = ""
    # Key of a draw ("round 3") -> number of requested redraws.
    redraws: Mapping[str, int] = field(default_factory=dict)
    # When the clock of a frenzy runs out; None while it is paused or not started.
    clock_ends_at: datetime | None = None
    # Minutes that a round may take, counted from its opening; None without a round timer.
    round_minutes: int | None = None
    # The round whose end was set by hand, and that end.
    timed_round_id: int | None = None
    timed_round_ends_at: datetime | None = None
    # Open game -> when its players were last called to their machine.
    calls: Mapping[int, datetime] = field(default_factory=dict)
    # Open game -> when its own time is up, where it was given extra time.
    game_ends: Mapping[int, datetime] | UnsetType = UNSET
    # The pairs that a max match play still has to release.
    schedule: tuple[tuple[int, int], ...] = ()
    # Tournaments of the same series: meetings and plays that `balanced_series` counts too.
    series_groups: tuple[tuple[int, ...], ...] = ()
    series_plays: Mapping[int, Mapping[int, int]] = field(default_factory=dict)
    # The round (from 0) that was open when the tournament was closed, and the players whose game in it
    # was not finished: they are no departures, and no bar puts them out.
    unfinished_round: int | None = None
    unfinished_ids: tuple[int, ...] = ()
    # Players who left a fixed schedule: they keep their places in it, and give up each game.
    left_ids: tuple[int, ...] | UnsetType = UNSET
    # The finals that this night leads to, and what a final was made from.
    finals: tuple[FinalStep, ...] | UnsetType = UNSET
    final_source: FinalSource | UnsetType = UNSET
    # What the federation was sent, so that later corrections can be named.
    results_sent: SentResults | UnsetType = UNSET
    # For seeding by rank, rating or series position: player id -> number, lower is better.
    seed_facts: Mapping[int, float] = field(default_factory=dict)

    # Pairs whom draws keep apart, each with the lower id first; only the organizer knows them.
    pairs_apart: tuple[tuple[int, int], ...] | UnsetType = UNSET
    # Arena -> most players at once, of machines for fewer than a group of four may have.
    arena_limits: Mapping[int, int] | UnsetType = UNSET

    # Entrants and arenas that are busy in another tournament of the same occasion.
    players_elsewhere: tuple[int, ...] | UnsetType = UNSET
    arenas_elsewhere: tuple[int, ...] | UnsetType = UNSET

    @property
    def planned_finals(self) -> tuple[FinalStep, ...]:
        """The finals that this night leads to, best first."""
        return () if isinstance(self.finals, UnsetType) else self.finals

    @property
    def ids_of_leavers(self) -> tuple[int, ...]:
        """The players who left a fixed schedule."""
        return () if isinstance(self.left_ids, UnsetType) else self.left_ids

    @property
    def extended_ends(self) -> Mapping[int, datetime]:
        """Game -> when its own time is up, of games with extra time."""
        return {} if isinstance(self.game_ends, UnsetType) else self.game_ends

    @property
    def persistent(self) -> "EngineState":
        """The stored part, without the facts looked up for each draw."""
        return replace(
            self,
            series_groups=(),
            series_plays={},
            seed_facts={},
            arena_limits=UNSET,
            players_elsewhere=UNSET,
            arenas_elsewhere=UNSET,
        )

    @property
    def apart(self) -> tuple[tuple[int, int], ...]:
        """The pairs whom draws keep apart."""
        return () if isinstance(self.pairs_apart, UnsetType) else self.pairs_apart

    def players_max_on(self, arena_id: int) -> int | None:
        """How many may play an arena at once, if the machine database knows of fewer than a group has."""
        return None if isinstance(self.arena_limits, UnsetType) else self.arena_limits.get(arena_id)

    @property
    def busy_player_ids(self) -> tuple[int, ...]:
        """Entrants who are busy in another tournament of the room."""
        return () if isinstance(self.players_elsewhere, UnsetType) else self.players_elsewhere

    @property
    def busy_arena_ids(self) -> tuple[int, ...]:
        """Arenas that are busy in another tournament of the room."""
        return () if isinstance(self.arenas_elsewhere, UnsetType) else self.arenas_elsewhere


TournamentStatus = Literal["planned", "started", "completed"]
PlayStatus = Literal["started", "completed"]
AttemptStatus = Literal["pending", "started", "completed"]


class ThingWithLookup(Struct, frozen=True):
    """A thing with a value that is looked up and never changed by the tournament: it is not compared."""

    looked_up: ClassVar[str]

    def __eq__(self, other: object) -> bool:
        return self is other or (type(self) is type(other) and self._compared() == other._compared())

    def __hash__(self) -> int:
        return hash(self._compared())

    def _compared(self) -> tuple[Any, ...]:
        return tuple(getattr(self, name) for name in self.__struct_fields__ if name != self.looked_up)


class Entrant(ThingWithLookup, frozen=True, kw_only=True):
    """A player in this tournament."""

    looked_up = "user_id"
    player_id: int
    # Order in which entrants were added, from 0.
    place: int = 0
    is_active: bool = True
    # 1 is best; None is unseeded.
    seed_rank: int | None = None
    # Strikes in knockouts, points elsewhere.
    points_adjustment: Decimal = Decimal(0)
    score_adjustment: Decimal = Decimal(0)
    # The published `seed`: a rating for seeding by rating, else the rank.
    seed_value: int | None = None
    # The account that claimed the player.
    user_id: int | None = None
    # Completed rounds when the strikes were last adjusted by hand; None when they never were.
    adjusted_after: int | None = None
    # Byes counted on entry or return, so that a late player is not first in line for one.
    byes_credited: int = 0
    # The hand-ordered set of tied players and the place in it, both from 1.
    tie_group: int | None = None
    tie_place: int | None = None
    # True where that order was drawn by lot.
    is_tie_drawn: bool | UnsetType = UNSET
    # Entries bought, comped and refunded, summed.
    entries_bought: int = 0
    labels: tuple[str, ...] = ()
    label_color: str | None = None
    # Rounds still to sit out, 0 for the newest one; unset for others, whose stored form stays as it was.
    away_rounds: int | UnsetType = UNSET


class LineupArena(ThingWithLookup, frozen=True, kw_only=True):
    """An arena in this tournament."""

    looked_up = "category_id"
    arena_id: int
    place: int = 0
    is_active: bool = True
    is_preferred: bool = False
    category_id: int | None = None
    amazing_race_seed: int | None = None
    is_blocked: bool = False
    is_queue_closed: bool = False
    labels: tuple[str, ...] = ()
    label_color: str | None = None


class Bank(ThingWithLookup, frozen=True, kw_only=True):
    """Arenas handed out as one unit, in order."""

    looked_up = "arena_ids"
    bank_id: int
    place: int = 0
    arena_ids: tuple[int, ...] = ()


class Round(Struct, frozen=True, kw_only=True):
    """Games played at the same time, or a hole."""

    round_id: int
    # From 0.
    round_index: int
    status: PlayStatus
    """`started`, or `completed`."""
    arena_id: int | None = None
    """Id of the arena of a hole, a frame or a race; null elsewhere."""
    score: int | None = None
    """Target of a hole, or bar of a race; null elsewhere."""
    name: str = ""
    """Name of the round, such as `Round #1`."""
    size: int | None = None
    """Number of groups; null when it is not known."""
    created_at: datetime | None = None
    completed_at: datetime | None = None


class Leg(Struct, frozen=True, kw_only=True):
    """A single game of a match, where the single games are recorded."""

    # Winner, loser.
    finishing_order: tuple[int, ...]
    arena_id: int | None = None
    recorded_at: datetime | None = None


class Game(Struct, frozen=True, kw_only=True):
    """Two to four entrants on an arena, or a bye; the lists have one element per player.

    A match of a bracket is one game. Where its single games are counted, `result_points` are the games
    won, `result_positions` stay empty and `finishing_order` has the winner once there is one.
    """

    game_id: int
    # None when it was played outside a round.
    round_id: int | None
    status: PlayStatus
    player_ids: tuple[int, ...]
    """Ids of the players in playing order."""
    result_positions: tuple[int | None, ...]
    """Ids of the players from first to last; null for a place without a player yet."""
    result_points: tuple[Decimal | None, ...]
    """Points of the players in playing order, as text with two decimals; null without a result."""
    result_scores: tuple[int | None, ...]
    """Scores in playing order, null for those that were not recorded."""
    arena_id: int | None = None
    # The group inside the round and the game inside the group, from 0; in brackets the part of the
    # bracket and the number in it.
    set_number: int = 0
    game_index: int | None = None
    is_bye: bool = False
    bank_id: int | None = None
    scorekeeper_id: int | None = None
    started_at: datetime | None = None
    completed_at: datetime | None = None
    # The player with the right to start, in head-to-head formats.
    advantage_id: int | None = None
    # The real order, first to last, where `result_positions` does not show it.
    finishing_order: tuple[int, ...] = ()
    # The player who did not show up: the others win, and no rating counts.
    forfeited_by: int | None = None
    # The players who gave up, where `forfeited_by` does not say it: they share the last place.
    gave_up: tuple[int, ...] = ()
    # Separates tied players; counts for nothing else.
    is_tiebreak: bool = False
    # A later suggestion contradicts the result.
    has_mismatch: bool = False
    # The single games of a match, in playing order.
    legs: tuple[Leg, ...] = ()
    # Since when the clock of an open game stands still, because its machine is out of order.
    waiting_since: datetime | UnsetType = UNSET
    # The number of a match in its bracket, in playing order from 1.
    match_number: int | UnsetType = UNSET

    @property
    def gave_up_ids(self) -> tuple[int, ...]:
        """The players who gave up this game."""
        return self.gave_up if self.forfeited_by is None else (self.forfeited_by,)


class Suggestion(Struct, frozen=True, kw_only=True):
    """A result suggested by a player of the game."""

    suggestion_id: int
    game_id: int
    player_id: int | None
    """Id of the player who reported; null when an account did."""
    user_id: int | None
    """Id of the account that reported; null for a printed code."""
    results: tuple[int | None, ...]
    """Ids of the players from first to last as reported."""
    scores: Mapping[int, int] = field(default_factory=dict)
    """Scores as reported, by player id; null without them."""


class SinglePlayerGame(Struct, frozen=True, kw_only=True):
    """One entrant's attempt on an arena."""

    single_player_game_id: int
    player_id: int
    status: AttemptStatus
    """`pending` before it begins, `started` while it is played, `completed` with a result."""
    arena_id: int | None = None
    """Id of the arena; null for none."""
    round_id: int | None = None
    """Id of the hole or frame; absent for other games."""
    card_id: int | None = None
    """Id of the card; absent for games that are on none."""
    score: int | None = None
    """Score on the machine's display; text for pinbowling, null without a result."""
    points: Decimal | None = None
    """Points as text with two decimals; null without a result."""
    game_index: int | None = None
    is_voided: bool = False
    # Pins of each roll of a frame.
    rolls: tuple[int, ...] = ()
    # Safe in its round without an exact score.
    is_advanced: bool = False
    scorekeeper_id: int | None = None
    created_at: datetime | None = None
    updated_at: datetime | None = None
    started_at: datetime | None = None
    # The playing time; None when its start was not recorded.
    duration_seconds: int | None = None
    # Holds a rank on its arena. Stored when the tournament completes; ask `bestgame.marks` while it runs.
    is_best: bool = False


class Card(Struct, frozen=True, kw_only=True):
    """A fixed number of single player games scored as one."""

    card_id: int
    player_id: int
    status: AttemptStatus
    """`started`, or `completed` once all its games have results."""
    is_voided: bool = False
    created_at: datetime | None = None
    updated_at: datetime | None = None
    # Counts for its player. Stored when the tournament completes; ask `bestgame.card_marks` while it runs.
    is_best: bool = False


class QueueSpot(Struct, frozen=True, kw_only=True):
    """An entrant waiting for an arena, for a round's arena, or for any."""

    queue_id: int
    player_id: int
    queue_index: int | None = None
    arena_id: int | None = None
    round_id: int | None = None
    is_done: bool = False
    created_at: datetime | None = None
    completed_at: datetime | None = None


class Tournament(Struct, frozen=True, kw_only=True, dict=True):
    """One tournament as it stands."""

    tournament_id: int
    type: str
    """Format of the tournament."""
    status: TournamentStatus
    """`planned`, `started` or `completed`."""
    settings: TournamentSettings
    entrants: tuple[Entrant, ...]
    lineup: tuple[LineupArena, ...] = ()
    banks: tuple[Bank, ...] = ()
    """Banks that arenas are drawn from; only with `includeBanks`."""
    rounds: tuple[Round, ...] = ()
    games: tuple[Game, ...] = ()
    suggestions: tuple[Suggestion, ...] = ()
    single_player_games: tuple[SinglePlayerGame, ...] = ()
    cards: tuple[Card, ...] = ()
    queue: tuple[QueueSpot, ...] = ()
    scorekeepers: tuple[Scorekeeper, ...] = ()
    """Accounts that may record results; only with `includeScorekeepers`."""
    purchases: tuple[Purchase, ...] = ()
    points_map: Sequence[Sequence[int | str]] | None = None
    """Points by size of a group and place, as text with two decimals; null where the format has none."""
    tiebreaker_points_map: Sequence[Sequence[int | str]] | None = None
    # Whether bought or given entries limit how often a player may play.
    has_entry_limits: bool = False
    completed_at: datetime | None = None
    # Until when what is played counts, once the tournament was reopened; None before.
    rated_until: datetime | None = None
    reopening: Reopening | None = None
    prizes: PrizePlan | None = None
    sign_ups: tuple[SignUpEntry, ...] = ()
    sign_up_terms: SignUpTerms | None = None
    state: EngineState = field(default_factory=EngineState)
    # Facts without a rule: name, texts, times, links, prizes; column -> JSON value, moments as text.
    details: Mapping[str, Any] = field(default_factory=dict)

    @cached_property
    def entrant_by_id(self) -> Mapping[int, Entrant]:
        return {entrant.player_id: entrant for entrant in self.entrants}

    @cached_property
    def round_by_id(self) -> Mapping[int, Round]:
        return {round_.round_id: round_ for round_ in self.rounds}

    @cached_property
    def games_by_round(self) -> Mapping[int | None, tuple[Game, ...]]:
        """Round id (None outside a round) -> its games, ascending by id."""
        return self._index("games_by_round")

    @cached_property
    def games_by_player(self) -> Mapping[int, tuple[Game, ...]]:
        """Player id -> their games, byes included, ascending by id."""
        return self._index("games_by_player")

    @cached_property
    def games_by_openness(self) -> Mapping[bool, tuple[Game, ...]]:
        """True -> the games without a result, ascending by id."""
        return self._index("games_by_openness")

    @cached_property
    def attempts_by_round(self) -> Mapping[int | None, tuple[SinglePlayerGame, ...]]:
        """Round id (None outside a round) -> its single player games, ascending by id."""
        return self._index("attempts_by_round")

    @cached_property
    def attempts_by_arena(self) -> Mapping[int | None, tuple[SinglePlayerGame, ...]]:
        """Arena id -> the single player games on it, ascending by id."""
        return self._index("attempts_by_arena")

    @cached_property
    def attempts_by_player(self) -> Mapping[int, tuple[SinglePlayerGame, ...]]:
        """Player id -> their single player games, ascending by id."""
        return self._index("attempts_by_player")

    @cached_property
    def attempts_by_openness(self) -> Mapping[bool, tuple[SinglePlayerGame, ...]]:
        """True -> the single player games that have begun and have no result, ascending by id."""
        return self._index("attempts_by_openness")

    @cached_property
    def cards_by_player(self) -> Mapping[int, tuple[Card, ...]]:
        """Player id -> their cards, ascending by id."""
        return self._index("cards_by_player")

    @cached_property
    def spots_by_waiting(self) -> Mapping[bool, tuple[QueueSpot, ...]]:
        """True -> the waiting spots of all queues, ascending by id."""
        return self._index("spots_by_waiting")

    def _index(self, name: str) -> Groups:
        index = INDEXES[name]
        return group_items(getattr(self, index.part), index.keys_of)

    @cached_property
    def kept_values(self) -> dict[Any, Any]:
        """Values that rules keep with this state: name -> sources and value (`part_index.kept_value`)."""
        return {}

    @property
    def open_games(self) -> tuple[Game, ...]:
        """The games without a result, ascending by id."""
        return self.games_by_openness.get(True, ())

    @property
    def started_attempts(self) -> tuple[SinglePlayerGame, ...]:
        """The single player games that have begun and have no result, ascending by id."""
        return self.attempts_by_openness.get(True, ())

    @property
    def waiting_spots(self) -> tuple[QueueSpot, ...]:
        """The waiting spots of all queues, ascending by id."""
        return self.spots_by_waiting.get(True, ())

    @cached_property
    def rounds_in_order(self) -> tuple[Round, ...]:
        """First round first."""
        return tuple(sorted(self.rounds, key=lambda round_: round_.round_index))

    @property
    def newest_round(self) -> Round | None:
        return self.rounds_in_order[-1] if self.rounds else None

    @property
    def rounds_completed(self) -> int:
        """How many rounds are completed."""
        return sum(round_.status == "completed" for round_ in self.rounds)

    @property
    def active_ids(self) -> tuple[int, ...]:
        """Ids of the active entrants, in the order they were added."""
        return tuple(entrant.player_id for entrant in self.entrants if entrant.is_active)

    @property
    def field(self) -> tuple[Entrant, ...]:
        """The entrants whom a schedule holds: the active ones, and those who left it."""
        left = self.state.ids_of_leavers
        return tuple(entrant for entrant in self.entrants if entrant.is_active or entrant.player_id in left)


# The cached properties of Tournament that are indexes of a part.
INDEXES: Mapping[str, PartIndex] = {
    "games_by_round": PartIndex("games", lambda game: (game.round_id,)),
    "games_by_player": PartIndex("games", lambda game: game.player_ids),
    "games_by_openness": PartIndex("games", lambda game: () if game.status == "completed" else (True,)),
    "attempts_by_round": PartIndex("single_player_games", lambda attempt: (attempt.round_id,)),
    "attempts_by_arena": PartIndex("single_player_games", lambda attempt: (attempt.arena_id,)),
    "attempts_by_player": PartIndex("single_player_games", lambda attempt: (attempt.player_id,)),
    "attempts_by_openness": PartIndex(
        "single_player_games", lambda attempt: (True,) if attempt.status == "started" else ()
    ),
    "cards_by_player": PartIndex("cards", lambda card: (card.player_id,)),
    "spots_by_waiting": PartIndex("queue", lambda spot: () if spot.is_done else (True,)),
}
# Other cached properties, each made from one part.
MADE_FROM_PART = {"entrant_by_id": "entrants", "round_by_id": "rounds", "rounds_in_order": "rounds"}
