"""The settings of all formats. Those that a format does not have are absent, not null."""

from msgspec import UNSET, UnsetType

from silverball_client.shapes.base import Shape
from silverball_client.shapes.parts import PlayoffCutoff


class FormatSettings(Shape, frozen=True, kw_only=True):
    """Every setting of every format."""

    scorekeeping: str | UnsetType | None = UNSET
    forecast: bool | UnsetType | None = UNSET
    late_points: int | UnsetType | None = UNSET
    seeding: str | UnsetType | None = UNSET
    first_round_pairing: str | UnsetType | None = UNSET
    pairing: str | UnsetType | None = UNSET
    player_order: str | UnsetType | None = UNSET
    player_order_open: str | UnsetType | None = UNSET
    arena_assignment: str | UnsetType | None = UNSET
    suggestions: str | UnsetType | None = UNSET
    byes: str | UnsetType | None = UNSET
    tiebreaker: str | UnsetType | None = UNSET
    scoring: str | UnsetType | None = UNSET
    duration: int | UnsetType | None = UNSET
    games_per_round: int | UnsetType | None = UNSET
    playoffs_cutoffs: tuple[PlayoffCutoff, ...] | UnsetType = UNSET
    use_queues: bool | UnsetType | None = UNSET
    knockout_strike_count: int | UnsetType | None = UNSET
    knockout_three_player_strikes: int | UnsetType | None = UNSET
    knockout_four_player_strikes: int | UnsetType | None = UNSET
    knockout_fair: bool | UnsetType | None = UNSET
    knockout_progressive: bool | UnsetType | None = UNSET
    max_matchplay_duration: int | UnsetType | None = UNSET
    max_matchplay_max_active: int | UnsetType | None = UNSET
    max_matchplay_scorekeeper_create: int | UnsetType | None = UNSET
    pace_initial_rounds: int | UnsetType | None = UNSET
    pace_initial_target: int | UnsetType | None = UNSET
    pace_increment: int | UnsetType | None = UNSET
    target_points: int | UnsetType | None = UNSET
    round_robin_group_size: int | UnsetType | None = UNSET
    round_count: int | UnsetType | None = UNSET
    bracket_size: int | UnsetType | None = UNSET
    group_bracket_double_byes: int | UnsetType | None = UNSET
    ladder_type: str | UnsetType | None = UNSET
    frenzy_duration: int | UnsetType | None = UNSET
    frenzy_queue_size: int | UnsetType | None = UNSET
    frenzy_standings: int | UnsetType | None = UNSET
    frenzy_paused_seconds_left: int | UnsetType | None = UNSET
    golf_duration: int | UnsetType | None = UNSET
    golf_holes_counted: int | UnsetType | None = UNSET
    golf_par_score: int | UnsetType | None = UNSET
    golf_stroke_limit: int | UnsetType | None = UNSET
    best_game_scoring: str | UnsetType | None = UNSET
    best_game_arenas_counted: int | UnsetType | None = UNSET
    best_game_attempts_on_arena: int | UnsetType | None = UNSET
    best_game_number_of_best_games: int | UnsetType | None = UNSET
    best_game_overall_attempts: int | UnsetType | None = UNSET
    card_best_game_cards_counted: int | UnsetType | None = UNSET
    card_best_game_games_counted: int | UnsetType | None = UNSET
    card_best_game_games_per_card: int | UnsetType | None = UNSET
    card_best_game_scoring: int | str | UnsetType | None = UNSET
