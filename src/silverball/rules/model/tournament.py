"""The snapshot that rules work on: one tournament with everything in it, frozen.

Lists are ascending by id, except `player_ids` (playing order) and `entrants` and `lineup` (the order in
which they were added).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from decimal import Decimal
from functools import cached_property
from typing import Any, Literal

from silverball.rules.model.settings import TournamentSettings

TournamentStatus = Literal["planned", "started", "completed"]
PlayStatus = Literal["started", "completed"]
AttemptStatus = Literal["pending", "started", "completed"]


@dataclass(frozen=True, kw_only=True)
class Entrant:
    """A player in this tournament."""

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
    # The account that claimed the player: looked up, never changed by the tournament.
    user_id: int | None = field(default=None, compare=False)
    # Completed rounds when the strikes were last adjusted by hand; None when they never were.
    adjusted_after: int | None = None
    # Byes counted on entry or return, so that a late player is not first in line for one.
    byes_credited: int = 0
    # The hand-ordered set of tied players and the place in it, both from 1.
    tie_group: int | None = None
    tie_place: int | None = None
    # Entries bought, comped and refunded, summed.
    entries_bought: int = 0
    labels: tuple[str, ...] = ()
    label_color: str | None = None


@dataclass(frozen=True, kw_only=True)
class LineupArena:
    """An arena in this tournament."""

    arena_id: int
    place: int = 0
    is_active: bool = True
    is_preferred: bool = False
    # Looked up, like the user of an entrant.
    category_id: int | None = field(default=None, compare=False)
    amazing_race_seed: int | None = None
    is_blocked: bool = False
    is_queue_closed: bool = False
    labels: tuple[str, ...] = ()
    label_color: str | None = None


@dataclass(frozen=True, kw_only=True)
class Bank:
    """Arenas handed out as one unit, in order."""

    bank_id: int
    place: int = 0
    # Looked up, like the user of an entrant.
    arena_ids: tuple[int, ...] = field(default=(), compare=False)


@dataclass(frozen=True, kw_only=True)
class Round:
    """Games played at the same time, or a hole."""

    round_id: int
    # From 0.
    round_index: int
    status: PlayStatus
    arena_id: int | None = None
    # The target of a hole, or the bar of a race.
    score: int | None = None
    name: str = ""
    # Players in the round, where the format says so.
    size: int | None = None
    created_at: datetime | None = None
    completed_at: datetime | None = None


@dataclass(frozen=True, kw_only=True)
class Game:
    """Two to four entrants on an arena, or a bye; the lists have one element per player."""

    game_id: int
    # None when it was played outside a round.
    round_id: int | None
    status: PlayStatus
    player_ids: tuple[int, ...]
    # Player ids from first to last; None where the order is not kept.
    result_positions: tuple[int | None, ...]
    result_points: tuple[Decimal | None, ...]
    result_scores: tuple[int | None, ...]
    arena_id: int | None = None
    # The group inside the round and the game inside the group, from 0.
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
    # Separates tied players; counts for nothing else.
    is_tiebreak: bool = False
    # A later suggestion contradicts the result.
    has_mismatch: bool = False


@dataclass(frozen=True, kw_only=True)
class Suggestion:
    """A result suggested by a player of the game."""

    suggestion_id: int
    game_id: int
    player_id: int | None
    user_id: int | None
    results: tuple[int | None, ...]
    scores: Mapping[int, int] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class SinglePlayerGame:
    """One entrant's attempt on an arena."""

    single_player_game_id: int
    player_id: int
    status: AttemptStatus
    arena_id: int | None = None
    round_id: int | None = None
    card_id: int | None = None
    score: int | None = None
    points: Decimal | None = None
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


@dataclass(frozen=True, kw_only=True)
class Card:
    """A fixed number of single player games scored as one."""

    card_id: int
    player_id: int
    status: AttemptStatus
    is_voided: bool = False
    created_at: datetime | None = None
    updated_at: datetime | None = None
    # Counts for its player. Stored when the tournament completes; ask `bestgame.card_marks` while it runs.
    is_best: bool = False


@dataclass(frozen=True, kw_only=True)
class QueueSpot:
    """An entrant waiting for an arena, for a round's arena, or for any."""

    queue_id: int
    player_id: int
    queue_index: int | None = None
    arena_id: int | None = None
    round_id: int | None = None
    is_done: bool = False
    created_at: datetime | None = None
    completed_at: datetime | None = None


@dataclass(frozen=True, kw_only=True)
class Scorekeeper:
    """An account that may record results here."""

    user_id: int
    place: int = 0


@dataclass(frozen=True, kw_only=True)
class Purchase:
    """Entries bought, given or refunded; a refund has a negative quantity."""

    entry_id: int
    player_id: int
    type: Literal["regular", "comped", "refund"]
    quantity: int
    amount: Decimal | None = None
    currency: str | None = None
    created_at: datetime | None = None


@dataclass(frozen=True, kw_only=True)
class EngineState:
    """Stored facts that no answer shows."""

    # The source of all draws: the same seed, round and redraw count give the same draw.
    dice_seed: str = ""
    # Key of a draw ("round 3") -> number of requested redraws.
    redraws: Mapping[str, int] = field(default_factory=dict)
    # When the clock of a frenzy runs out; None while it is paused or not started.
    clock_ends_at: datetime | None = None
    # The pairs that a max match play still has to release.
    schedule: tuple[tuple[int, int], ...] = ()
    # Tournaments of the same series: meetings and plays that `balanced_series` counts too.
    series_groups: tuple[tuple[int, ...], ...] = ()
    series_plays: Mapping[int, Mapping[int, int]] = field(default_factory=dict)
    # For seeding by rank, rating or series position: player id -> number, lower is better.
    seed_facts: Mapping[int, float] = field(default_factory=dict)

    @property
    def persistent(self) -> "EngineState":
        """The stored part, without the facts looked up for each draw."""
        return replace(self, series_groups=(), series_plays={}, seed_facts={})


@dataclass(frozen=True, kw_only=True)
class Tournament:
    """One tournament as it stands."""

    tournament_id: int
    # The wire name of its format.
    type: str
    status: TournamentStatus
    settings: TournamentSettings
    entrants: tuple[Entrant, ...]
    lineup: tuple[LineupArena, ...] = ()
    banks: tuple[Bank, ...] = ()
    rounds: tuple[Round, ...] = ()
    games: tuple[Game, ...] = ()
    suggestions: tuple[Suggestion, ...] = ()
    single_player_games: tuple[SinglePlayerGame, ...] = ()
    cards: tuple[Card, ...] = ()
    queue: tuple[QueueSpot, ...] = ()
    scorekeepers: tuple[Scorekeeper, ...] = ()
    purchases: tuple[Purchase, ...] = ()
    # Row by group size - 1: the points of first, second, ... as on the wire; None without such points.
    points_map: Sequence[Sequence[int | str]] | None = None
    tiebreaker_points_map: Sequence[Sequence[int | str]] | None = None
    # Whether bought or given entries limit how often a player may play.
    has_entry_limits: bool = False
    completed_at: datetime | None = None
    state: EngineState = EngineState()
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
        by_round: dict[int | None, list[Game]] = {}
        for game in self.games:
            by_round.setdefault(game.round_id, []).append(game)
        return {round_id: tuple(games) for round_id, games in by_round.items()}

    @cached_property
    def attempts_by_round(self) -> Mapping[int | None, tuple[SinglePlayerGame, ...]]:
        """Round id (None outside a round) -> its single player games, ascending by id."""
        by_round: dict[int | None, list[SinglePlayerGame]] = {}
        for attempt in self.single_player_games:
            by_round.setdefault(attempt.round_id, []).append(attempt)
        return {round_id: tuple(attempts) for round_id, attempts in by_round.items()}

    @cached_property
    def waiting_spots(self) -> tuple[QueueSpot, ...]:
        """The waiting spots of all queues, ascending by id."""
        return tuple(spot for spot in self.queue if not spot.is_done)

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
