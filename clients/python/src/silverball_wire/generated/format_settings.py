"""The settings of all formats. Those that a format does not have are absent, not null."""

from silverball_wire.base import UNSET, UnsetType, Wire
from silverball_wire.generated.words import (
    ArenaAssignment,
    BestGameScoring,
    Byes,
    FirstRoundPairing,
    LadderType,
    Pairing,
    PlayerOrder,
    PlayerOrderOpen,
    Scorekeeping,
    Scoring,
    Seeding,
    SuggestionMode,
    Tiebreaker,
)
from silverball_wire.parts import PlayoffCutoff


class FormatSettings(Wire, frozen=True, kw_only=True):
    """Every setting of every format."""

    scorekeeping: Scorekeeping | UnsetType | None = UNSET
    """Who may report results: `user` for the players too, `disabled` for scorekeepers alone."""
    forecast: bool | UnsetType | None = UNSET
    """True when everybody sees the forecast while the tournament runs; absent while that is off."""
    late_points: int | UnsetType | None = UNSET
    """Points, or strikes, that a late player gets for each round they missed; absent while they get none."""
    seeding: Seeding | UnsetType | None = UNSET
    """What seeds are made of when the tournament starts."""
    first_round_pairing: FirstRoundPairing | UnsetType | None = UNSET
    """How the first round is paired."""
    pairing: Pairing | UnsetType | None = UNSET
    """How the later rounds are paired."""
    player_order: PlayerOrder | UnsetType | None = UNSET
    """How the order of play within a game is decided."""
    player_order_open: PlayerOrderOpen | UnsetType | None = UNSET
    """Who may change the order of play: `scorekeepers`, or also the `players`."""
    arena_assignment: ArenaAssignment | UnsetType | None = UNSET
    """How games get their arenas."""
    suggestions: SuggestionMode | UnsetType | None = UNSET
    """Whether players can report results, and whether those count at once (`automatic`)."""
    byes: Byes | UnsetType | None = UNSET
    """What a bye is worth: a `full` win, `half` of it, or `zero`."""
    tiebreaker: Tiebreaker | UnsetType | None = UNSET
    """How equal points are told apart."""
    scoring: Scoring | UnsetType | None = UNSET
    """Points by place in a game."""
    duration: int | UnsetType | None = UNSET
    """Planned number of rounds; 0 means open-ended."""
    games_per_round: int | UnsetType | None = UNSET
    """Number of games of a group in one round; best of that many in a bracket."""
    playoffs_cutoffs: tuple[PlayoffCutoff, ...] | UnsetType = UNSET
    use_queues: bool | UnsetType | None = UNSET
    """Whether players wait in queues for the arenas."""
    knockout_strike_count: int | UnsetType | None = UNSET
    """Number of strikes with which a player is out."""
    knockout_three_player_strikes: int | UnsetType | None = UNSET
    """Strikes in a game of three: 1 for the last player, 0 for the last two."""
    knockout_four_player_strikes: int | UnsetType | None = UNSET
    """Number of players with a strike in a game of four: 1, 2 or 3; 100 progressive, 101 fair."""
    knockout_fair: bool | UnsetType | None = UNSET
    """Whether the last of a game gets two strikes, the first none and others one."""
    knockout_progressive: bool | UnsetType | None = UNSET
    """Whether each place below the first costs one more strike."""
    max_matchplay_duration: int | UnsetType | None = UNSET
    """Number of games that each player plays."""
    max_matchplay_max_active: int | UnsetType | None = UNSET
    """Greatest number of games at the same time; 0 for no limit."""
    max_matchplay_scorekeeper_create: int | UnsetType | None = UNSET
    """1 lets scorekeepers create matches, 0 only the organizer."""
    pace_initial_rounds: int | UnsetType | None = UNSET
    """Number of rounds before the bar applies."""
    pace_initial_target: int | UnsetType | None = UNSET
    """Points that the first bar asks for."""
    pace_increment: int | UnsetType | None = UNSET
    """Points by which the bar rises with each round."""
    target_points: int | UnsetType | None = UNSET
    """Points with which a player is done."""
    round_robin_group_size: int | UnsetType | None = UNSET
    """Number of players in a group; 0 for one group of all."""
    round_count: int | UnsetType | None = UNSET
    """Number of rounds, computed from the size of the bracket; 2 is kept for 40 players."""
    bracket_size: int | UnsetType | None = UNSET
    """Number of places in the bracket."""
    group_bracket_double_byes: int | UnsetType | None = UNSET
    """1 gives the top quarter of 8, 16, 32 or 64 seeds two byes, 0 none."""
    ladder_type: LadderType | UnsetType | None = UNSET
    """`regular` eliminates one player per game, `fast` two."""
    frenzy_duration: int | UnsetType | None = UNSET
    """Length of the frenzy in minutes."""
    frenzy_queue_size: int | UnsetType | None = UNSET
    """Number of players who should be waiting."""
    frenzy_standings: int | UnsetType | None = UNSET
    """1 hides the standings until the end, 0 shows them."""
    frenzy_paused_seconds_left: int | UnsetType | None = UNSET
    """Seconds left on the stopped clock; 0 while it runs."""
    golf_duration: int | UnsetType | None = UNSET
    """Number of holes, or of frames in pinbowling."""
    golf_holes_counted: int | UnsetType | None = UNSET
    """Number of best holes that count; 0 for all."""
    golf_par_score: int | UnsetType | None = UNSET
    """Par of each hole; 0 for none."""
    golf_stroke_limit: int | UnsetType | None = UNSET
    """Greatest number of strokes on a hole."""
    best_game_scoring: BestGameScoring | UnsetType | None = UNSET
    """Points by rank on an arena."""
    best_game_arenas_counted: int | UnsetType | None = UNSET
    """Number of arenas whose results count; 0 for all."""
    best_game_attempts_on_arena: int | UnsetType | None = UNSET
    """Greatest number of attempts on an arena; 0 for no limit."""
    best_game_number_of_best_games: int | UnsetType | None = UNSET
    """Number of games of a player that are ranked on each arena."""
    best_game_overall_attempts: int | UnsetType | None = UNSET
    """Greatest number of attempts, or of cards; 0 for no limit."""
    card_best_game_cards_counted: int | UnsetType | None = UNSET
    """Number of best cards that count."""
    card_best_game_games_counted: int | UnsetType | None = UNSET
    """Number of best games of a card that count; 0 for all."""
    card_best_game_games_per_card: int | UnsetType | None = UNSET
    """Number of games on a card."""
    card_best_game_scoring: int | str | UnsetType | None = UNSET
    """0 ranks all cards, 1 only each player's newest completed one."""
    amazing_race_byes: int | UnsetType | None = UNSET
    """Number of the best seeds who wait in the first rounds; absent while nobody does."""
    amazing_race_bye_rounds: int | UnsetType | None = UNSET
    """Number of rounds in which the best seeds wait; absent while nobody does."""


SETTING_FIELDS: tuple[str, ...] = FormatSettings.__struct_fields__
