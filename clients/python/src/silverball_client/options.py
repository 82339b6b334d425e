"""Arguments that several methods share."""

from collections.abc import Sequence
from typing import Literal, TypedDict

from silverball_wire.generated.words import (
    ArenaAssignment,
    BestGameScoring,
    FirstRoundPairing,
    Pairing,
    PlayerOrder,
    Scoring,
    Seeding,
    Tiebreaker,
)
from silverball_wire.parts import PlayoffCutoff


class FormatSettings(TypedDict, total=False):
    """The settings of all formats; the service refuses those of other formats."""

    scorekeeping: Literal["user", "disabled"] | None
    forecast: bool | None
    late_points: int | None
    seeding: Seeding | None
    first_round_pairing: FirstRoundPairing | None
    pairing: Pairing | None
    player_order: PlayerOrder | None
    player_order_open: Literal["players", "scorekeepers"] | None
    arena_assignment: ArenaAssignment | None
    suggestions: Literal["automatic", "restricted", "disabled"] | None
    byes: Literal["full", "half", "zero"] | None
    tiebreaker: Tiebreaker | None
    scoring: Scoring | None
    duration: int | None
    games_per_round: int | None
    playoffs_cutoffs: Sequence[PlayoffCutoff]
    use_queues: bool | None
    knockout_strike_count: int | None
    knockout_three_player_strikes: int | None
    knockout_four_player_strikes: int | None
    knockout_fair: bool | None
    knockout_progressive: bool | None
    max_matchplay_duration: int | None
    max_matchplay_max_active: int | None
    max_matchplay_scorekeeper_create: int | None
    pace_initial_rounds: int | None
    pace_initial_target: int | None
    pace_increment: int | None
    target_points: int | None
    round_robin_group_size: int | None
    round_count: int | None
    bracket_size: int | None
    group_bracket_double_byes: int | None
    ladder_type: Literal["regular", "fast"] | None
    frenzy_duration: int | None
    frenzy_queue_size: int | None
    frenzy_standings: int | None
    frenzy_paused_seconds_left: int | None
    golf_duration: int | None
    golf_holes_counted: int | None
    golf_par_score: int | None
    golf_stroke_limit: int | None
    best_game_scoring: BestGameScoring | None
    best_game_arenas_counted: int | None
    best_game_attempts_on_arena: int | None
    best_game_number_of_best_games: int | None
    best_game_overall_attempts: int | None
    card_best_game_cards_counted: int | None
    card_best_game_games_counted: int | None
    card_best_game_games_per_card: int | None
    card_best_game_scoring: int | str | None
    amazing_race_byes: int | None
    amazing_race_bye_rounds: int | None


class TournamentParts(TypedDict, total=False):
    """The parts of a tournament that an answer should have."""

    include_players: bool
    include_arenas: bool
    include_banks: bool
    include_scorekeepers: bool
    include_directors: bool
    include_location: bool
    include_entry_configuration: bool
    include_rsvp_configuration: bool
    include_linked_tournaments: bool
    include_event: bool
    include_shortcut: bool
    include_series: bool


class SettingsAndParts(FormatSettings, TournamentParts, total=False):
    """Settings to store, and parts that the answer should have."""
