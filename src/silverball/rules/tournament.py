"""The snapshot that rules work on: one tournament with everything in it, frozen.

Lists are ascending by id, except `player_ids` (playing order) and `entrants` and `lineup` (the order in
which they were added).
"""

from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

from silverball.rules.settings import Settings
from silverball.rules.words import TournamentType

TournamentStatus = Literal["planned", "started", "completed"]
PlayStatus = Literal["started", "completed"]
AttemptStatus = Literal["pending", "started", "completed"]


@dataclass(frozen=True, kw_only=True)
class Entrant:
    """A player in this tournament."""

    player_id: int
    is_active: bool = True
    # 1 is best; None is unseeded.
    seed_rank: int | None = None
    # Strikes in knockouts, points elsewhere.
    points_adjustment: Decimal = Decimal(0)
    score_adjustment: Decimal = Decimal(0)


@dataclass(frozen=True, kw_only=True)
class LineupArena:
    """An arena in this tournament."""

    arena_id: int
    is_active: bool = True
    is_preferred: bool = False
    category_id: int | None = None
    amazing_race_seed: int | None = None


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


@dataclass(frozen=True, kw_only=True)
class Card:
    """A fixed number of single player games scored as one."""

    card_id: int
    player_id: int
    status: AttemptStatus
    is_voided: bool = False


@dataclass(frozen=True, kw_only=True)
class QueueSpot:
    """An entrant waiting for an arena, for a round's arena, or for any."""

    queue_id: int
    player_id: int
    queue_index: int | None = None
    arena_id: int | None = None
    round_id: int | None = None
    is_done: bool = False


@dataclass(frozen=True, kw_only=True)
class Tournament:
    """One tournament as it stands."""

    tournament_id: int
    type: TournamentType
    status: TournamentStatus
    settings: Settings
    entrants: tuple[Entrant, ...]
    lineup: tuple[LineupArena, ...] = ()
    rounds: tuple[Round, ...] = ()
    games: tuple[Game, ...] = ()
    single_player_games: tuple[SinglePlayerGame, ...] = ()
    cards: tuple[Card, ...] = ()
    queue: tuple[QueueSpot, ...] = ()
